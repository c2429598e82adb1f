import type { ControllerDef, Gates, Metrics } from '@slipway/kube';
import { assignmentsController } from './assignments.ts';
import { poolSetsController } from './pool-sets.ts';
import { summariesController } from './summaries.ts';
import { turnedOffController } from './turned-off.ts';

export interface PinnedImagesOptions {
  /** The same as the manager has: what pinned images have left behind goes when their gate is turned off. */
  readonly gates: Gates;
  readonly metrics?: Pick<Metrics, 'registry'> | undefined;
}

/** All that has to do with pinned images in the cluster. The daemons follow what these write, and rollout tells of it. */
export const pinnedImagesControllers = ({ gates, metrics }: PinnedImagesOptions): ControllerDef[] => [
  poolSetsController,
  assignmentsController(),
  summariesController(metrics),
  turnedOffController(gates),
];
