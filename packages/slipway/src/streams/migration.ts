// Computes the fleet after a pool requests another stream.
import { type MachineConfigPool, machineConfigPoolKind } from '@slipway/api';
import {
  decidedStream,
  listStreams,
  ProblemList,
  selectMachineConfigs,
  type Stream,
  type Streams,
  trackedBy,
} from '@slipway/fleet';
import type { Applied, FleetState } from '@slipway/fleet/plan';
import { noSuchPool } from '../cli/cluster.ts';
import { CommandError } from '../cli/errors.ts';

export interface Migration {
  readonly pool: string;
  /** Its current stream; null: unknown. */
  readonly from: string | null;
  /** In the payload's spelling. */
  readonly to: Stream;
  /** The current spec.osImageStream; null: not set. */
  readonly askedBefore: string | null;
  /** Whether the pool has OS extensions, so that its machines fetch that image too. */
  readonly needsExtensions: boolean;
  readonly applied: Applied;
}

/** Throws the problems that the controllers would report. */
export function buildMigration(before: FleetState, name: string, stream: string): Migration {
  const pool = before.pools.find(({ metadata }) => metadata.name === name);
  if (pool === undefined) {
    throw noSuchPool(
      name,
      before.pools.map(({ metadata }) => metadata.name),
    );
  }
  const { streams } = before;
  if (streams === null) throw noStreams();
  const to = streamFor(pool, stream, streams, before);
  const askedBefore = pool.spec.osImageStream?.name ?? null;
  const isSame = askedBefore === to.name;
  const after = withStream(pool, to.name);
  return {
    pool: name,
    from: trackedBy(decidedStream(pool, streams, before))?.name ?? null,
    to,
    askedBefore,
    needsExtensions: selectMachineConfigs(pool, before.machineConfigs).some(
      ({ spec }) => (spec?.extensions ?? []).length > 0,
    ),
    applied: {
      state: isSame ? before : { ...before, pools: before.pools.map((each) => (each === pool ? after : each)) },
      objects: [{ kind: machineConfigPoolKind.kind, name, change: isSame ? 'same' : 'changed' }],
    },
  };
}

const withStream = (pool: MachineConfigPool, stream: string): MachineConfigPool => ({
  ...pool,
  spec: { ...pool.spec, osImageStream: { name: stream } },
});

function streamFor(pool: MachineConfigPool, stream: string, streams: Streams, before: FleetState): Stream {
  const decided = decidedStream(withStream(pool, stream), streams, before);
  if (decided.type === 'follows') return decided.stream;
  if (decided.type === 'refused') throw new ProblemList([decided.problem]);
  throw new CommandError(
    'SLW_CLI_STREAM',
    `MachineConfigPool ${pool.metadata.name} is already on stream ${stream}, which is no longer in the payload, so it stays at the last images of that stream. Choose one of ${listStreams(streams.available)}`,
  );
}

const noStreams = (): CommandError =>
  new CommandError(
    'SLW_CLI_STREAM',
    'the pools of this cluster follow no OS image streams: it has no OSImageStream, or the feature gate OSStreams is off. Run slipway streams to see what to do',
  );
