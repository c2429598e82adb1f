// Runs rpm-ostree, bootc and podman, and tries again what may pass: for a bound time, and only then fails.
import { setTimeout as wait } from 'node:timers/promises';
import type { Command, Run } from '../run-command.ts';
import { classifyFailure, OSFailure } from './os-failure.ts';

export interface Patience {
  /** How long somebody else's change of the OS is waited for, and how often it is asked. */
  readonly busyForMs: number;
  readonly busyEveryMs: number;
  /** After each failure that a network may have made; as many more tries as there are numbers. */
  readonly networkMs: readonly number[];
}

export const DEFAULT_PATIENCE: Patience = {
  busyForMs: 10 * 60_000,
  busyEveryMs: 5000,
  networkMs: [5000, 10_000, 20_000, 40_000, 80_000],
};

export type OSCommand = Omit<Command, 'timeoutMs'> & {
  readonly timeoutMs?: number;
  /** For people: what was to be done, as in `The OS image cannot be pulled`. */
  readonly failing: string;
};

/** Resolves to stdout. Rejects with an OSFailure. */
export type OSRun = (command: OSCommand) => Promise<string>;

/** Nothing but asking takes longer than that, and a pull on a slow line may take as long. */
const LONG_MS = 60 * 60_000;

export function createOSRun(run: Run, patience: Patience): OSRun {
  return async (command) => {
    const giveUpAt = Date.now() + patience.busyForMs;
    const networkWaits = [...patience.networkMs];
    for (;;) {
      const { status, stdout, stderr } = await run({ timeoutMs: LONG_MS, ...command });
      if (status === 0) return stdout;
      if (status === null) throw new OSFailure('unsupported', command.failing, `there is no ${command.program} here`);
      const failure = classifyFailure(stderr);
      const pause = failure === 'busy' ? busyPause(patience, giveUpAt) : networkPause(failure, networkWaits);
      if (pause === undefined) throw new OSFailure(failure, command.failing, stderr);
      await wait(pause, undefined, command.signal && { signal: command.signal });
    }
  };
}

function busyPause(patience: Patience, giveUpAt: number): number | undefined {
  return Date.now() + patience.busyEveryMs > giveUpAt ? undefined : patience.busyEveryMs;
}

function networkPause(failure: string, waits: number[]): number | undefined {
  return failure === 'network' ? waits.shift() : undefined;
}
