// A word now and then while it takes long.
import type { Writable } from 'node:stream';

export type Progress = (text: string) => void;

/** Who has to wait longer than this wonders. */
const FIRST_MS = 2000;
const EVERY_MS = 1000;

export function createProgress(stderr: Writable, now: () => number = () => performance.now()): Progress {
  let next = now() + FIRST_MS;
  return (text) => {
    if (now() < next) return;
    next = now() + EVERY_MS;
    stderr.write(`${text}\n`);
  };
}
