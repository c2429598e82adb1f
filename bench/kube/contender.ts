import { monitorEventLoopDelay } from 'node:perf_hooks';

/** Messages from one side to the conductor over its IPC channel. */
export type Report =
  | { type: 'synced'; ms: number; objects: number; rssMb: number }
  | { type: 'watching' }
  | { type: 'caughtUp'; ms: number; rssMb: number; peakRssMb: number; stallMs: number };

/** The conductor's message to one side: start counting, up to this many changes. */
export interface Expect {
  changes: number;
}

const megabytes = (bytes: number): number => Math.round((bytes / 1024 / 1024) * 10) / 10;

/**
 * Shared by both sides, so that both are measured in the same way: `begin` starts an informer, calls `onChange` for
 * each update after the sync, and resolves with the number of cached objects once synced.
 */
export async function measure(begin: (onChange: () => void) => Promise<number>): Promise<void> {
  let seen = 0;
  /** Before it is known, a change only shows that the watch is open. */
  let expected: number | undefined;
  let firstAt = 0;
  const stall = monitorEventLoopDelay({ resolution: 5 });
  const sendReport = (report: Report): void => void process.send?.(report);

  process.on('message', (message: Expect) => {
    expected = message.changes;
  });
  stall.enable();
  const started = performance.now();
  const objects = await begin(() => {
    if (expected === undefined) return sendReport({ type: 'watching' });
    if (seen === 0) firstAt = performance.now();
    seen += 1;
    if (seen !== expected) return;
    const ms = performance.now() - firstAt;
    const peakRssMb = megabytes(process.resourceUsage().maxRSS * 1024);
    // Measures live objects, not garbage: both sides get the same time to settle.
    setTimeout(() => {
      const rssMb = megabytes(process.memoryUsage.rss());
      sendReport({ type: 'caughtUp', ms, rssMb, peakRssMb, stallMs: Math.round(stall.max / 1e5) / 10 });
    }, 2000);
  });
  sendReport({ type: 'synced', ms: performance.now() - started, objects, rssMb: megabytes(process.memoryUsage.rss()) });
}
