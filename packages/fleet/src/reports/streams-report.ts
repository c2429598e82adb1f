// The OS image streams of a cluster and the pools on each, as plain data. `-o json` prints exactly this.
import { isSameStream, type MachineConfigPool, osStreamProblemAnnotation } from '@slipway/api';
import type { GateFinding } from '../feature-gates.ts';
import {
  findStream,
  findLifecycle,
  type StreamLifecycle,
  type Streams,
  type TrackedStream,
} from '../os-streams/available.ts';
import { readTrackedStream } from '../os-streams/pool-stream.ts';
import { type CodedProblem, decodeProblems } from '../problems.ts';

export interface StreamsReport {
  /** Whether pools follow streams. Null: the cluster has no FeatureGate, so only its controllers know. */
  readonly gate: GateFinding | null;
  /** Null: no streams are known. */
  readonly defaultStream: string | null;
  /** By name. */
  readonly streams: readonly StreamEntry[];
  /** By name. */
  readonly pools: readonly PoolEntry[];
}

export interface StreamEntry {
  readonly name: string;
  readonly osImage: string;
  readonly osExtensionsImage: string;
  readonly isDefault: boolean;
  /** Null: it is neither deprecated nor removed. */
  readonly lifecycle: StreamLifecycle | null;
  /** The pools that are on it. */
  readonly pools: readonly string[];
}

/** `removed`: the payload no longer has its stream. `unknown`: its OS predates streams, so its stream cannot be determined. */
export type PoolState = 'on stream' | 'not yet decided' | 'removed' | 'unknown';

export interface PoolEntry {
  readonly name: string;
  readonly state: PoolState;
  /** The stream it is on; null: none is known. */
  readonly stream: string | null;
  /** spec.osImageStream; null: not set. */
  readonly asked: string | null;
  /** The stream that every machine runs, from its status; null: none yet. */
  readonly reached: string | null;
  /** The OS image that it keeps while its stream is removed or unknown; null: not known, or it follows its stream. */
  readonly keeps: string | null;
  /** Why it does not follow the requested stream. */
  readonly problems: readonly CodedProblem[];
}

export function streamsReport(
  streams: Streams | null,
  pools: readonly MachineConfigPool[],
  gate: GateFinding | null,
): StreamsReport {
  const entries = pools.map((pool) => poolEntry(pool, streams)).sort(byName);
  const available = [...(streams?.available ?? [])].sort(byName);
  return {
    gate,
    defaultStream: streams?.defaultStream ?? null,
    streams: available.map((stream) => ({
      name: stream.name,
      osImage: stream.osImage,
      osExtensionsImage: stream.osExtensionsImage,
      isDefault: stream.name === streams?.defaultStream,
      lifecycle: streams === null ? null : (findLifecycle(stream.name, streams) ?? null),
      pools: entries
        .filter((pool) => pool.stream !== null && isSameStream(pool.stream, stream.name))
        .map(({ name }) => name),
    })),
    pools: entries,
  };
}

function poolEntry({ metadata, spec, status }: MachineConfigPool, streams: Streams | null): PoolEntry {
  const tracked = readTrackedStream(metadata.annotations);
  const state = computePoolState(tracked, streams);
  return {
    name: metadata.name,
    state,
    stream: tracked?.name ?? null,
    asked: spec.osImageStream?.name ?? null,
    reached: status?.osImageStream?.name ?? null,
    keeps: state === 'on stream' ? null : osImageIn(tracked),
    problems: readProblems(metadata),
  };
}

const osImageIn = (tracked: TrackedStream | null): string | null => tracked?.images?.osImage ?? null;

function computePoolState(tracked: TrackedStream | null, streams: Streams | null): PoolState {
  if (tracked === null) return 'not yet decided';
  if (tracked.name === null) return 'unknown';
  return streams === null || findStream(streams.available, tracked.name) !== undefined ? 'on stream' : 'removed';
}

function readProblems(metadata: MachineConfigPool['metadata']): readonly CodedProblem[] {
  const annotation = metadata.annotations?.[osStreamProblemAnnotation];
  return annotation === undefined ? [] : decodeProblems(annotation).problems;
}

const byName = (a: { name: string }, b: { name: string }): number => (a.name < b.name ? -1 : 1);
