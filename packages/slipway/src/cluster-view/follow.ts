// Looks at a cluster again and again, until somebody presses Ctrl-C.
import { setTimeout as wait } from 'node:timers/promises';

/** Something of a cluster that is kept up to date. */
export interface Followed<T> {
  /** Resolves when everything was read once. */
  readonly synced: Promise<unknown>;
  now(): T;
  /** Why it may be behind, for people; null while all watches stand. */
  problem(): string | null;
}

export interface FollowOptions<T> {
  readonly watch: (onChange: () => void) => Followed<T>;
  readonly show: (now: T, problem: string | null) => Promise<void>;
  readonly signal: AbortSignal;
}

/** Changes come in bursts: what comes within this is one look. */
const BURST_MS = 100;
/** Some decisions change with time alone: the end of a soak, a machine that is away for too long. */
const LOOK_AGAIN_MS = 1000;

export async function follow<T>({ watch, show, signal }: FollowOptions<T>): Promise<void> {
  let wake = (): void => {};
  let isNews = false;
  const followed = watch(() => {
    isNews = true;
    wake();
  });
  const stopped = new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  await Promise.race([followed.synced, stopped]);
  const pause = (ms: number): Promise<void> => wait(ms, undefined, { signal }).catch(() => {});
  while (!signal.aborted) {
    isNews = false;
    await show(followed.now(), followed.problem());
    await pause(BURST_MS);
    if (isNews) continue;
    const woken = new Promise<void>((resolve) => {
      wake = resolve;
    });
    await Promise.race([woken, pause(LOOK_AGAIN_MS)]);
  }
}
