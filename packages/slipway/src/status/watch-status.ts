// Status that follows the cluster until somebody presses Ctrl-C.
import { setTimeout as wait } from 'node:timers/promises';
import type { Transport } from '@slipway/kube';
import type { FleetNow } from '../cluster-view/fleet-now.ts';
import { watchFleet } from '../cluster-view/watch-fleet.ts';
import { type Io, write } from '../ignition/io.ts';
import { isTerminal, paintFor, widthOf } from '../terminal/paint.ts';
import { changeLines } from './change-lines.ts';
import { createScreen } from './screen.ts';
import type { StatusReport } from './status-report.ts';
import { statusText } from './status-text.ts';

export interface WatchStatusOptions {
  readonly transport: Transport;
  readonly report: (fleet: FleetNow) => StatusReport;
  readonly json: boolean;
  readonly allNodes: boolean;
  readonly io: Io;
  readonly signal: AbortSignal;
}

/** Shows one look at the fleet; what it shows depends on the ones before. */
type Show = (report: StatusReport, problem: string | null) => Promise<void>;

/** Changes come in bursts: what comes within this is one look. */
const BURST_MS = 100;
/** Some decisions change with time alone: the end of a soak, a machine that is away for too long. */
const LOOK_AGAIN_MS = 1000;

export async function watchStatus(options: WatchStatusOptions): Promise<void> {
  const { transport, signal } = options;
  let wake = (): void => {};
  let isNews = false;
  const fleet = watchFleet(transport, {
    signal,
    onChange: () => {
      isNews = true;
      wake();
    },
  });
  const stopped = new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  await Promise.race([fleet.synced, stopped]);
  const pause = (ms: number): Promise<void> => wait(ms, undefined, { signal }).catch(() => {});
  const show = showing(options);
  while (!signal.aborted) {
    isNews = false;
    await show(options.report(fleet.now()), fleet.problem());
    await pause(BURST_MS);
    if (isNews) continue;
    const woken = new Promise<void>((resolve) => {
      wake = resolve;
    });
    await Promise.race([woken, pause(LOOK_AGAIN_MS)]);
  }
}

function showing({ io, json, allNodes }: WatchStatusOptions): Show {
  if (json) return jsonLines(io);
  if (isTerminal(io.stdout)) return redrawn(io, allNodes);
  return lines(io);
}

function redrawn(io: Io, allNodes: boolean): Show {
  const screen = createScreen(io.stdout);
  const paint = paintFor(io.stdout);
  return async (report, problem) => {
    const behind = problem === null ? '' : `${paint('yellow', 'This may be behind')}: ${problem}\n`;
    const text = statusText(report, { paint, allNodes, width: widthOf(io.stdout) });
    await screen.draw(`${text}\n${behind}${paint('dim', 'Ctrl-C ends this')}`);
  };
}

/** A document a line, each time something in it is another. */
function jsonLines(io: Io): Show {
  let last = '';
  return async (report) => {
    const line = `${JSON.stringify(report)}\n`;
    if (line !== last) await write(io.stdout, line);
    last = line;
  };
}

function lines(io: Io): Show {
  let last: StatusReport | null = null;
  let said: string | null = null;
  return async (report, problem) => {
    const at = new Date().toISOString().replace(/\.\d+Z$/, 'Z');
    const text = changeLines(last, report).map((line) => `${at} ${line}\n`);
    last = report;
    if (text.length > 0) await write(io.stdout, text.join(''));
    if (problem !== null && problem !== said) await write(io.stderr, `${at} the cluster does not answer: ${problem}\n`);
    said = problem;
  };
}
