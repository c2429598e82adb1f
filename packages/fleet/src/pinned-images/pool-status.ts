// What the status of a pool says of its pinned images.
import type { MachineConfigPool } from '@slipway/api';
import type { DegradedNode, PinSummary } from './pool-summary.ts';

export type PoolSynchronizer = NonNullable<NonNullable<MachineConfigPool['status']>['poolSynchronizersStatus']>[number];

export interface PinFinding {
  readonly reason: string;
  /** '' : nothing is wrong. */
  readonly message: string;
}

export interface PoolPins {
  /** Empty: the pool has no sets. */
  readonly synchronizers: readonly PoolSynchronizer[];
  /** Of the condition PinnedImageSetsDegraded. */
  readonly degraded: PinFinding;
  /** What makes the pool as a whole Degraded: a full disk, and nothing else. */
  readonly full: PinFinding;
}

const fine: PinFinding = { reason: 'AsExpected', message: '' };

/** Null: nothing has been summed up yet, or the pool has no sets. */
export function poolPinsOf(summary: PinSummary | null): PoolPins {
  if (summary === null) return { synchronizers: [], degraded: fine, full: fine };
  const { generation, machines, updated, degraded, fullDisks, nodes, problems } = summary;
  const full = nodes.filter(({ isDiskFull }) => isDiskFull);
  const said = [...problems.map(({ code, message }) => `${message} [${code}]`), nodesText(nodes, degraded)];
  return {
    synchronizers: [
      {
        poolSynchronizerType: 'PinnedImageSets',
        machineCount: machines,
        updatedMachineCount: updated,
        readyMachineCount: updated,
        availableMachineCount: machines - degraded,
        unavailableMachineCount: degraded,
        observedGeneration: generation,
      },
    ],
    degraded: {
      reason: reasonOf(degraded, problems.length),
      message: said.filter((text) => text !== '').join('\n'),
    },
    full: fullDisks === 0 ? fine : { reason: 'PinnedImagesDiskFull', message: nodesText(full, fullDisks) },
  };
}

function reasonOf(degraded: number, problems: number): string {
  if (degraded > 0) return 'PrefetchFailed';
  return problems > 0 ? 'PinnedImageSetsInvalid' : fine.reason;
}

function nodesText(nodes: readonly DegradedNode[], count: number): string {
  if (count === 0) return '';
  const shown = nodes.map(({ name, message }) => `Node ${name} is reporting: "${message}"`);
  const more = count - nodes.length;
  return [...shown, ...(more > 0 ? [`and ${more} more ${more === 1 ? 'node' : 'nodes'}`] : [])].join(', ');
}
