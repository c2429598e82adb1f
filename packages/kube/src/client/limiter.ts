/**
 * Caps the requests in flight. A healthy server is never throttled: there is no rate limit, only a concurrency limit.
 * It halves when the server responds 429 and grows by one with each success.
 */
export interface Limiter {
  acquire(signal?: AbortSignal): Promise<() => void>;
  succeeded(): void;
  /** The server asked all clients to wait. */
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
      // No request is waiting: a pause of minutes must not keep a process alive that is about to exit.
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
      // Responses during the pause belong to earlier requests: one overload halves the limit once, not per response.
      if (now >= pausedUntil) {
        limit = Math.max(1, Math.floor(limit / 2));
        successes = 0;
      }
      pausedUntil = Math.max(pausedUntil, now + waitMs);
    },
  };
}
