/**
 * How many requests may be in flight. A healthy server is never throttled: there is no rate, only a cap on
 * concurrency, which is halved when the server answers 429 and grows back one by one as answers succeed.
 */
export interface Limiter {
  acquire(signal?: AbortSignal): Promise<() => void>;
  succeeded(): void;
  /** The server asked everybody to wait. */
  overloaded(waitMs: number): void;
  readonly limit: number;
}

interface Waiter {
  grant: () => void;
}

export function createLimiter(maximum = 64): Limiter {
  let limit = maximum;
  let inFlight = 0;
  let successes = 0;
  let pausedUntil = 0;
  let timer: NodeJS.Timeout | undefined;
  const waiting = new Set<Waiter>();

  const release = (): void => {
    inFlight -= 1;
    drain();
  };

  function drain(): void {
    const pause = pausedUntil - performance.now();
    if (waiting.size === 0) {
      // Nobody is left to wake: a pause of minutes must not keep a process alive that wants to end.
      clearTimeout(timer);
      timer = undefined;
    } else if (pause > 0) {
      timer ??= setTimeout(() => {
        timer = undefined;
        drain();
      }, pause);
      return;
    }
    for (const waiter of waiting) {
      if (inFlight >= limit) return;
      waiting.delete(waiter);
      inFlight += 1;
      waiter.grant();
    }
  }

  return {
    get limit() {
      return limit;
    },
    acquire(signal) {
      signal?.throwIfAborted();
      return new Promise((resolve, reject) => {
        const abort = (): void => {
          waiting.delete(waiter);
          drain();
          reject(signal?.reason);
        };
        const waiter: Waiter = {
          grant: () => {
            signal?.removeEventListener('abort', abort);
            resolve(release);
          },
        };
        signal?.addEventListener('abort', abort, { once: true });
        waiting.add(waiter);
        drain();
      });
    },
    succeeded() {
      successes += 1;
      if (limit < maximum && successes >= limit) {
        limit += 1;
        successes = 0;
      }
    },
    overloaded(waitMs) {
      const now = performance.now();
      // Answers that come during the pause are of requests sent before it: one overload halves once, not once each.
      if (now >= pausedUntil) {
        limit = Math.max(1, Math.floor(limit / 2));
        successes = 0;
      }
      pausedUntil = Math.max(pausedUntil, now + waitMs);
    },
  };
}
