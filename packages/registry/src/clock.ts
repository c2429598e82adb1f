import { setTimeout as wait } from 'node:timers/promises';

/** Time as this package sees it. Tests bring their own. */
export interface Clock {
  /** Milliseconds since the epoch: an HTTP date can be compared with it. */
  now(): number;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  async sleep(ms, signal) {
    try {
      await wait(ms, undefined, { signal });
    } catch {
      signal.throwIfAborted();
    }
  },
};
