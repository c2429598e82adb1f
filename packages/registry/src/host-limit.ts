/** How many requests are under way at once, for each host. */
export interface HostLimit {
  /** Waits for a turn; what it returns gives the turn back. */
  acquire(host: string, signal: AbortSignal): Promise<() => void>;
}

interface Line {
  underWay: number;
  readonly waiting: Set<() => void>;
}

export function createHostLimit(atOnce: number): HostLimit {
  const lines = new Map<string, Line>();

  function lineOf(host: string): Line {
    const line = lines.get(host) ?? { underWay: 0, waiting: new Set() };
    lines.set(host, line);
    return line;
  }

  function release(host: string, line: Line): void {
    line.underWay -= 1;
    const [next] = line.waiting;
    if (next !== undefined) next();
    else if (line.underWay === 0) lines.delete(host);
  }

  return {
    acquire(host, signal) {
      signal.throwIfAborted();
      const line = lineOf(host);
      return new Promise((resolve, reject) => {
        const abort = (): void => {
          line.waiting.delete(go);
          reject(signal.reason);
        };
        const go = (): void => {
          signal.removeEventListener('abort', abort);
          line.waiting.delete(go);
          line.underWay += 1;
          resolve(() => release(host, line));
        };
        if (line.underWay < atOnce) return go();
        signal.addEventListener('abort', abort, { once: true });
        line.waiting.add(go);
      });
    },
  };
}
