/** Time that tests can control. A function declares what it uses: `Pick<Clock, 'now' | 'setTimer'>`. */
export interface Clock {
  /** Monotonic milliseconds with an arbitrary origin: for durations. */
  now(): number;
  /** Milliseconds since the epoch: for timestamps, which are stored or compared with those of others. May jump. */
  wallNow(): number;
  /** Returns a function that cancels the timer. */
  setTimer(ms: number, fire: () => void): () => void;
  /** Rejects with the signal's reason. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Node fires a timer beyond 2^31-1 ms immediately. */
const MAX_TIMER_MS = 2_147_483_647;

export function createClock(source: Pick<Clock, 'now' | 'wallNow' | 'setTimer'>): Clock {
  return {
    ...source,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted === true) return reject(signal.reason);
        const abort = (): void => {
          cancel();
          reject(signal?.reason);
        };
        const cancel = source.setTimer(ms, () => {
          signal?.removeEventListener('abort', abort);
          resolve();
        });
        signal?.addEventListener('abort', abort, { once: true });
      }),
  };
}

export const systemClock: Clock = createClock({
  now: () => performance.now(),
  wallNow: () => Date.now(),
  setTimer(ms, fire) {
    const timer = setTimeout(fire, Math.min(Math.max(0, ms), MAX_TIMER_MS));
    return () => clearTimeout(timer);
  },
});
