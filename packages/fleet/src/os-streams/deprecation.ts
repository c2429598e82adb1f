// What becomes of pools whose stream nears its end: told early, then an upgrade waits for them, then their OS stays as it is.
import { isSameStream } from '@slipway/api';
import {
  findStream,
  findLifecycle,
  listStreams,
  type Streams,
  listSuccessors,
  type TrackedStream,
} from './available.ts';

export interface PoolOnStream {
  readonly pool: string;
  readonly tracked: TrackedStream | null;
  /** The stream that every machine of the pool runs, status.osImageStream.name; null: none, or not all of them yet. */
  readonly runs: string | null;
}

export interface StreamCondition {
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

const AS_EXPECTED = 'AsExpected';
const MAX_POOLS = 10;

/** For the condition OSStreamDeprecated of the pool. No streams: nothing is known of any end. */
export function poolDeprecation(pool: PoolOnStream, streams: Streams | null): StreamCondition {
  if (streams === null) return { status: 'False', reason: AS_EXPECTED, message: '' };
  const ending = findEnding(pool, streams);
  if (ending !== null) return { status: 'True', reason: ending.reason, message: poolMessage(ending, streams) };
  if (pool.tracked === null || pool.tracked.name !== null) return { status: 'False', reason: AS_EXPECTED, message: '' };
  // Nothing ends here, but nothing comes either: the owner should know.
  const message = `MachineConfigPool ${pool.pool} runs an OS of no known stream, from before streams: it stays as it is and gets no updates of the OS. Set spec.osImageStream.name of the pool to the stream it shall follow: ${listStreams(streams.available)}`;
  return { status: 'False', reason: 'StreamUnknown', message };
}

/** For the condition Upgradeable of the cluster: the next release may not have the stream of a pool any more. */
export function computeUpgradeable(pools: readonly PoolOnStream[], streams: Streams | null): StreamCondition {
  const holding = streams === null ? [] : pools.flatMap((pool) => findEnding(pool, streams) ?? []).filter(holdsUpgrade);
  if (streams === null || holding.length === 0) return { status: 'True', reason: AS_EXPECTED, message: '' };
  const sorted = holding.toSorted((a, b) => (a.pool < b.pool ? -1 : 1));
  const shown = sorted.slice(0, MAX_POOLS).map((ending) => `${whatIs(ending)}. ${whatToDo(ending, streams)}`);
  const more = holding.length > MAX_POOLS ? ` And ${holding.length - MAX_POOLS} more pools.` : '';
  const message = `Cannot upgrade while machines run an OS that the next release does not have. ${shown.join('. ')}.${more}`;
  return { status: 'False', reason: 'DeprecatedOSStreamInUse', message };
}

interface Ending {
  readonly pool: string;
  readonly stream: string;
  readonly state: 'deprecated' | 'blocked' | 'removed';
  readonly reason: 'StreamEndOfLife' | 'StreamRemoved';
  /** The stream that the pool is already on its way to. */
  readonly goingTo: string | null;
  readonly said: string | null;
}

/** What the pool is on counts, and what its machines still run on their way away from it. */
function findEnding({ pool, tracked, runs }: PoolOnStream, streams: Streams): Ending | null {
  const on = tracked?.name ?? null;
  const isMoving = on !== null && runs !== null && !isSameStream(on, runs);
  const left = isMoving ? findStreamEnd(runs, streams) : null;
  if (left !== null) return { pool, ...left, goingTo: on };
  const own = on === null ? null : findStreamEnd(on, streams);
  return own === null ? null : { pool, ...own, goingTo: null };
}

function findStreamEnd(stream: string, streams: Streams): Omit<Ending, 'pool' | 'goingTo'> | null {
  const lifecycle = findLifecycle(stream, streams);
  const said = lifecycle?.message ?? null;
  if (findStream(streams.available, stream) === undefined) {
    return { stream, state: 'removed', reason: 'StreamRemoved', said };
  }
  return lifecycle === undefined ? null : { stream, state: lifecycle.state, reason: 'StreamEndOfLife', said };
}

const holdsUpgrade = ({ state }: Ending): boolean => state !== 'deprecated';

function poolMessage(ending: Ending, streams: Streams): string {
  const said = ending.said === null ? '' : ` The release says: ${ending.said}`;
  return `${whatIs(ending)}. ${whatToDo(ending, streams)}.${said}`;
}

const meanings = {
  deprecated: 'is deprecated and will be removed in a future release',
  blocked: 'is deprecated, and the cluster cannot be upgraded while it is used',
  removed: 'is not in this release any more: the OS stays at its version and gets no updates',
} as const satisfies Readonly<Record<Ending['state'], string>>;

const whatIs = ({ pool, stream, state, goingTo }: Ending): string =>
  `MachineConfigPool ${pool} ${goingTo === null ? 'is on' : 'still has machines on'} the OS image stream ${stream}, which ${meanings[state]}`;

function whatToDo({ pool, stream, goingTo }: Ending, streams: Streams): string {
  if (goingTo !== null) return `It is on its way to ${goingTo}: this ends when its last machine is there`;
  const to = listSuccessors(stream, streams);
  if (to.length === 0) return `No stream of this release can follow it: make new machines in a new pool`;
  const target = to.length === 1 ? to.join('') : `one of ${listStreams(to.map((name) => ({ name })))}`;
  return `Set spec.osImageStream.name of MachineConfigPool ${pool} to ${target}`;
}
