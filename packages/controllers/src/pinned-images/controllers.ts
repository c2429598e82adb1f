import type { ControllerDef, Metrics } from '@slipway/kube';
import { assignmentsController } from './assignments-controller.ts';
import { poolSetsController } from './pool-sets-controller.ts';
import { summariesController } from './summaries-controller.ts';

export interface PinnedImagesOptions {
  readonly metrics?: Pick<Metrics, 'registry'> | undefined;
}

/**
 * All that has to do with pinned images in the cluster. The daemons follow what these write, and rollout tells of it. Each takes
 * back what it wrote when the feature gate is turned off; what a person put into a pool stays.
 */
export const pinnedImagesControllers = ({ metrics }: PinnedImagesOptions = {}): ControllerDef[] => [
  poolSetsController,
  assignmentsController(),
  summariesController(metrics),
];
