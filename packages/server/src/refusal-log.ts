import type { Clock } from '@slipway/base/clock';
import type { Log } from '@slipway/kube';

/** Lines about refused requests and closed connections, which a stranger can cause in any number. */
export interface RefusalLog {
  warn(client: string, fields: object, message: string): void;
  stop(): void;
}

const WINDOW_MS = 60_000;
const MAX_LINES = 10;
const MAX_CLIENTS = 256;
const OTHERS = 'other addresses';

/** Ten lines per client and minute; the others are counted, and reported in one line at the end of the minute. */
export function createRefusalLog(log: Pick<Log, 'warn'>, clock: Pick<Clock, 'setTimer'>): RefusalLog {
  let counts = new Map<string, number>();
  let cancel: (() => void) | undefined;

  function report(): void {
    for (const [client, count] of counts) {
      if (count <= MAX_LINES) continue;
      log.warn({ from: client, count: count - MAX_LINES }, 'refused more, without a line for each, in the last minute');
    }
    counts = new Map();
    cancel = undefined;
  }

  return {
    warn(client, fields, message) {
      const counted = counts.has(client) || counts.size < MAX_CLIENTS ? client : OTHERS;
      const count = (counts.get(counted) ?? 0) + 1;
      counts.set(counted, count);
      cancel ??= clock.setTimer(WINDOW_MS, report);
      if (count <= MAX_LINES) log.warn(fields, message);
    },
    stop() {
      cancel?.();
      report();
    },
  };
}
