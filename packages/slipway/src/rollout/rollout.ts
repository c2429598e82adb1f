// The commands pause, resume, cancel and rollback.
import { type MachineConfigPool, machineConfigs, poolLabel } from '@slipway/api';
import { readPoolFacts, type RolloutState } from '@slipway/fleet';
import type { Client } from '@slipway/kube';
import { readPool } from '../cli/cluster.ts';
import { CommandError } from '../cli/errors.ts';
import type { Io } from '../cli/io.ts';
import { type ClusterOptions, stopSignal } from '../cli/program.ts';
import { withCluster } from '../cli/run.ts';
import { shortConfig } from '../cli/terminal.ts';
import { changePool, formatNextSteps, readHolds, readStopSwitch, setStopSwitch } from './pools.ts';
import {
  runPoolRequest,
  type PoolRequestCommandOptions,
  type RolloutCommandResult,
  type ResultOptions,
  writeResult,
} from './request.ts';

export interface PauseOptions extends ClusterOptions, WhichOptions, ResultOptions {
  reason?: string;
}

const NO_REASON = 'stopped with slipway pause --all';

export async function runPause(named: string | undefined, options: PauseOptions, io: Io): Promise<void> {
  const pool = whichPools('pause', named, options);
  if (pool !== null && options.reason !== undefined) {
    throw new CommandError(
      'SLW_CLI_USAGE',
      'slipway pause: expected --reason together with --all, found it without. A paused pool stores no reason',
    );
  }
  await withCluster(options, io, async (client) => {
    const outcome = pool === null ? await stopAll(client, options.reason ?? NO_REASON) : await pausePool(client, pool);
    await writeResult(io, options, outcome);
  });
}

async function stopAll(client: Client, reason: string): Promise<RolloutCommandResult> {
  const before = await setStopSwitch(client, reason);
  return {
    action: 'pause',
    pool: null,
    changed: before !== reason,
    message:
      before === null
        ? `All rollouts are stopped: ${reason}.`
        : `All rollouts were already stopped (${before}). The reason is now: ${reason}.`,
    next: 'No machine gets a new config; updates in progress finish. slipway status shows them, slipway resume --all continues.',
  };
}

async function pausePool(client: Client, pool: string): Promise<RolloutCommandResult> {
  const { before, after } = await changePool(client, pool, ({ spec }) =>
    spec.paused === true ? null : { spec: { paused: true } },
  );
  return {
    action: 'pause',
    pool,
    changed: before !== after,
    message: before === after ? `Pool ${pool} was already paused.` : `Pool ${pool} is paused.`,
    next: `Its machines get no new config, not even security fixes; updates in progress finish. slipway status ${pool} shows them, slipway resume ${pool} continues.`,
  };
}

export interface ResumeOptions extends ClusterOptions, WhichOptions, PoolRequestCommandOptions {}

export async function runResume(named: string | undefined, options: ResumeOptions, io: Io): Promise<void> {
  const pool = whichPools('resume', named, options);
  await withCluster(options, io, async (client) => {
    if (pool === null) await writeResult(io, options, await resumeAll(client));
    else await resumePool(client, pool, options, io);
  });
}

async function resumeAll(client: Client): Promise<RolloutCommandResult> {
  const before = await setStopSwitch(client, null);
  return {
    action: 'resume',
    pool: null,
    changed: before !== null,
    message: before === null ? 'Rollouts were not stopped.' : `Rollouts continue. They were stopped: ${before}.`,
    next: 'Pools that are individually paused or halted stay so. slipway status shows all pools.',
  };
}

async function resumePool(client: Client, pool: string, options: ResumeOptions, io: Io): Promise<void> {
  const { isPaused, ask } = nextResume(await readPool(client, pool));
  const stopped = await readStopSwitch(client);
  // One step at a time: after pause and cancel, resume must let the machines roll back, not undo the cancel.
  if (ask !== null && !isPaused) {
    const next = formatNextSteps(pool, { isPaused, stopped }, formatWatchHint(pool, null));
    await runPoolRequest(
      { client, pool, action: 'resume', request: 'resume', next, signal: stopSignal() },
      options,
      io,
    );
    return;
  }
  const { before, after } = await changePool(client, pool, ({ spec }) =>
    spec.paused === true ? { spec: { paused: false } } : null,
  );
  const changed = before !== after;
  const message = changed
    ? `Pool ${pool} is no longer paused.`
    : `Pool ${pool} has nothing to resume: it is not paused, halted or held, and has no rollout in progress.`;
  const next = formatNextSteps(pool, { isPaused: false, stopped }, formatWatchHint(pool, ask));
  await writeResult(io, options, { action: 'resume', pool, changed, message, next });
}

const formatWatchHint = (pool: string, kept: string | null): string =>
  `${kept === null ? '' : `It is still ${kept}; run slipway resume ${pool} again to end that. `}Follow it with: slipway status ${pool} --watch`;

export interface CancelOptions extends ClusterOptions, PoolRequestCommandOptions {}

export const runCancel = (pool: string, options: CancelOptions, io: Io): Promise<void> =>
  withCluster(options, io, async (client) => {
    const moving = `slipway status ${pool} --watch shows the machines roll back; slipway resume ${pool} rolls out the newest config again.`;
    const next = formatNextSteps(pool, await readHolds(client, pool), moving);
    await runPoolRequest(
      { client, pool, action: 'cancel', request: 'cancel', next, signal: stopSignal() },
      options,
      io,
    );
  });

export interface RollbackOptions extends ClusterOptions, PoolRequestCommandOptions {
  to?: string;
}

export const runRollback = (pool: string, options: RollbackOptions, io: Io): Promise<void> =>
  withCluster(options, io, async (client) => {
    const brakes = await readHolds(client, pool);
    const request =
      options.to === undefined
        ? 'rollback'
        : `rollback=${findTarget(options.to, pool, await listRendered(client, pool))}`;
    const moving = `slipway status ${pool} --watch shows the progress; slipway resume ${pool} rolls out the newest config again.`;
    const next = formatNextSteps(pool, brakes, moving);
    await runPoolRequest({ client, pool, action: 'rollback', request, next, signal: stopSignal() }, options, io);
  });

async function listRendered(client: Client, pool: string): Promise<string[]> {
  const found: { name: string; at: string }[] = [];
  for await (const { metadata } of client.list(machineConfigs, {
    labelSelector: `${poolLabel}=${pool}`,
    pageSize: 20,
  })) {
    found.push({ name: metadata.name, at: metadata.creationTimestamp ?? '' });
  }
  return found.sort((a, b) => (a.at < b.at ? 1 : -1)).map(({ name }) => name);
}

export interface WhichOptions {
  all?: boolean;
}

/** The named pool, or null for --all. Exactly one of the two is required. */
export function whichPools(command: string, pool: string | undefined, { all = false }: WhichOptions): string | null {
  if (all && pool === undefined) return null;
  if (!all && pool !== undefined) return pool;
  const found = pool === undefined ? 'neither' : `both ${pool} and --all`;
  throw new CommandError(
    'SLW_CLI_USAGE',
    `slipway ${command}: expected a POOL or --all for the whole fleet, found ${found}`,
  );
}

/** What `resume` has to do for a pool. */
export interface NextResume {
  readonly isPaused: boolean;
  /** What else stops it, human-readable, such as `held at …`: only the controller can end that. Null: nothing. */
  readonly ask: string | null;
}

export function nextResume(pool: MachineConfigPool): NextResume {
  const { isPaused, held, state } = readPoolFacts(pool).pool;
  return { isPaused, ask: describeHalt(state) ?? describeHold(held) ?? (isPaused ? null : describeProgress(state)) };
}

const describeHalt = (state: RolloutState | null): string | null =>
  state === null || state.halted === null ? null : `halted because of node ${state.halted.node}`;

const describeHold = (held: string | null): string | null => (held === null ? null : `held at ${held}`);

/** Only the controller knows whether the rollout waits for an absent machine and can continue without it. */
const describeProgress = (state: RolloutState | null): string | null =>
  state === null || state.endedAt !== null ? null : `updating to ${state.target}`;

const parseHash = (name: string): string => name.slice(name.lastIndexOf('-') + 1);

const MAX_NAMED = 10;

/** Finds a rendered config by its name, or by a prefix of its name or hash. `names` are newest first. */
export function findTarget(asked: string, pool: string, names: readonly string[]): string {
  const found = names.includes(asked)
    ? [asked]
    : names.filter((name) => name.startsWith(asked) || parseHash(name).startsWith(asked));
  const [first, ...others] = found;
  if (first !== undefined && others.length === 0 && asked !== '') return first;
  const [matches, shown] = first === undefined ? ['none', names] : ['several', found];
  const list = shown.slice(0, MAX_NAMED).map(shortConfig).join(', ') || 'none';
  throw new CommandError(
    'SLW_CLI_NO_CONFIG',
    `--to ${JSON.stringify(asked)}: expected one matching rendered config of pool ${pool}, found ${matches}. Choose from: ${list}. slipway history ${pool} shows what each one changed`,
  );
}
