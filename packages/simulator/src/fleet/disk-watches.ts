// Whether the disks of so many machines can be watched: the operating system gives each user so many watches and no more.
import { readFile } from 'node:fs/promises';

/** What a machine with the built-in configs and some more needs. */
const EACH = 30;
/** Others on this machine need some too. */
const SHARE = 0.5;
/** Where the operating system does not say. */
const MOST_UNKNOWN = 50;

const LIMIT = '/proc/sys/fs/inotify/max_user_watches';

export function canWatch(machines: number, limit: number | undefined): boolean {
  return limit === undefined ? machines <= MOST_UNKNOWN : machines * EACH <= limit * SHARE;
}

/** Undefined: it does not say. */
export async function watchLimit(): Promise<number | undefined> {
  const limit = Number(await readFile(LIMIT, 'utf8').catch(() => ''));
  return limit > 0 ? limit : undefined;
}
