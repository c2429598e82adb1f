import { type Client, createClient } from '@slipway/kube';
import { CommandError } from '../cli/errors.ts';
import type { Io } from '../cli/io.ts';
import { type ClusterOptions, connect } from '../cli/program.ts';
import { changePool } from './change-pool.ts';
import { type Outcome, type OutcomeOptions, sayOutcome } from './outcome.ts';
import { setStopSwitch } from './stop-switch.ts';
import { type WhichOptions, whichPools } from './which-pools.ts';

export interface PauseOptions extends ClusterOptions, WhichOptions, OutcomeOptions {
  reason?: string;
}

const NO_REASON = 'stopped with slipway pause --all';

export async function runPause(named: string | undefined, options: PauseOptions, io: Io): Promise<void> {
  const pool = whichPools('pause', named, options);
  if (pool !== null && options.reason !== undefined) {
    throw new CommandError(
      'SLW_CLI_USAGE',
      'slipway pause: --reason goes with --all; a paused pool has no place for it',
    );
  }
  const transport = await connect(options);
  try {
    const client = createClient(transport);
    const outcome = pool === null ? await stopAll(client, options.reason ?? NO_REASON) : await pausePool(client, pool);
    await sayOutcome(io, options, outcome);
  } finally {
    await transport.close();
  }
}

async function stopAll(client: Client, reason: string): Promise<Outcome> {
  const before = await setStopSwitch(client, reason);
  return {
    action: 'pause',
    pool: null,
    changed: before !== reason,
    message:
      before === null
        ? `All rollouts are stopped: ${reason}.`
        : `All rollouts were stopped already (${before}); the reason is now: ${reason}.`,
    next: 'No machine of any pool is given a new config; those on their way finish. slipway status shows them, slipway resume --all goes on.',
  };
}

async function pausePool(client: Client, pool: string): Promise<Outcome> {
  const { before, after } = await changePool(client, pool, ({ spec }) =>
    spec.paused === true ? null : { spec: { paused: true } },
  );
  return {
    action: 'pause',
    pool,
    changed: before !== after,
    message: before === after ? `Pool ${pool} was paused already.` : `Pool ${pool} is paused.`,
    next: `No machine of it is given a new config, security fixes included; those on their way finish. slipway status ${pool} shows them, slipway resume ${pool} goes on.`,
  };
}
