// Pools whose stream nears its end of life: first a warning, then a blocked upgrade, then an OS without updates.
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
  /** The stream that all machines of the pool run, status.osImageStream.name; null: none, or not all of them yet. */
  readonly runs: string | null;
}

export interface StreamCondition {
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

const AS_EXPECTED = 'AsExpected';
const MAX_POOLS = 10;

/** For the condition OSStreamDeprecated of the pool. Without streams no end of life is known. */
export function poolDeprecation(pool: PoolOnStream, streams: Streams | null): StreamCondition {
  if (streams === null) return { status: 'False', reason: AS_EXPECTED, message: '' };
  const ending = findEnding(pool, streams);
  if (ending !== null) return { status: 'True', reason: ending.reason, message: poolMessage(ending, streams) };
  if (pool.tracked === null || pool.tracked.name !== null) return { status: 'False', reason: AS_EXPECTED, message: '' };
  // Nothing is deprecated, but there are no OS updates either: report it.
  const message = `MachineConfigPool ${pool.pool} runs an OS that predates OS image streams and belongs to no known stream, so it gets no OS updates. Set spec.osImageStream.name of the pool to one of: ${listStreams(streams.available)}`;
  return { status: 'False', reason: 'StreamUnknown', message };
}

/** For the condition Upgradeable of the cluster: the next release may no longer ship the stream of a pool. */
export function computeUpgradeable(pools: readonly PoolOnStream[], streams: Streams | null): StreamCondition {
  const holding = streams === null ? [] : pools.flatMap((pool) => findEnding(pool, streams) ?? []).filter(holdsUpgrade);
  if (streams === null || holding.length === 0) return { status: 'True', reason: AS_EXPECTED, message: '' };
  const sorted = holding.toSorted((a, b) => (a.pool < b.pool ? -1 : 1));
  const shown = sorted.slice(0, MAX_POOLS).map((ending) => `${whatIs(ending)}. ${whatToDo(ending, streams)}`);
  const more = holding.length > MAX_POOLS ? ` And ${holding.length - MAX_POOLS} more pools.` : '';
  const message = `Cannot upgrade: some machines run an OS that the next release does not ship. ${shown.join('. ')}.${more}`;
  return { status: 'False', reason: 'DeprecatedOSStreamInUse', message };
}

interface Ending {
  readonly pool: string;
  readonly stream: string;
  readonly state: keyof typeof meanings;
  readonly reason: 'StreamEndOfLife' | 'StreamRemoved';
  /** The stream that the pool is moving to. */
  readonly goingTo: string | null;
  readonly said: string | null;
}

/** Both the pool's stream and the stream that its machines still run count. */
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
    return { stream, state: lifecycle?.state === 'removed' ? 'removed' : 'gone', reason: 'StreamRemoved', said };
  }
  if (lifecycle === undefined) return null;
  const reason = lifecycle.state === 'removed' ? 'StreamRemoved' : 'StreamEndOfLife';
  return { stream, state: lifecycle.state, reason, said };
}

export type StreamState = 'supported' | 'deprecated' | 'blocked' | 'removed';

/** Of a stream that a pool is on. */
export function stateOfStream(stream: string, streams: Streams): StreamState {
  const state = findStreamEnd(stream, streams)?.state ?? 'supported';
  return state === 'gone' ? 'removed' : state;
}

const holdsUpgrade = ({ state }: Ending): boolean => state !== 'deprecated';

function poolMessage(ending: Ending, streams: Streams): string {
  const said = ending.said === null ? '' : ` Message: ${ending.said}`;
  return `${whatIs(ending)}. ${whatToDo(ending, streams)}.${said}`;
}

const meanings = {
  deprecated: 'is deprecated and will be removed in a future release',
  blocked: 'is deprecated, and the cluster cannot be upgraded while it is used',
  removed: 'is marked as removed: the OS stays at its current version and gets no updates',
  gone: 'is no longer in this release: the OS stays at its current version and gets no updates',
} as const;

const whatIs = ({ pool, stream, state, goingTo }: Ending): string =>
  `MachineConfigPool ${pool} ${goingTo === null ? 'is on' : 'still has machines on'} the OS image stream ${stream}, which ${meanings[state]}`;

function whatToDo({ pool, stream, goingTo }: Ending, streams: Streams): string {
  if (goingTo !== null) return `It is moving to ${goingTo}: this clears once its last machine is updated`;
  const to = listSuccessors(stream, streams);
  if (to.length === 0) return `No stream of this release can replace it: create new machines in a new pool`;
  const target = to.length === 1 ? to.join('') : `one of ${listStreams(to.map((name) => ({ name })))}`;
  return `Set spec.osImageStream.name of MachineConfigPool ${pool} to ${target}`;
}
