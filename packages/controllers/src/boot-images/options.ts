import type { Gates, Metrics } from '@slipway/kube';
import type { PoolOsOptions } from '../pool-os.ts';
import type { VerdictBoard } from './verdict-board.ts';

/** With what pools are rendered with: whether a release has arrived is told by it. */
export interface BootImagesOptions extends PoolOsOptions {
  /** Ours: where the ConfigMap coreos-bootimages lives. */
  readonly namespace: string;
  readonly machineApiNamespace: string;
  readonly clusterApiNamespace: string;
  readonly controllerVersion: string;
  /** The same as the manager has. */
  readonly gates: Gates;
  readonly metrics?: Pick<Metrics, 'registry'> | undefined;
  /** Whether one machine must come up with a new image before a MachineSet gets it. */
  readonly canary?: boolean | undefined;
  /** Where findings are put; left out: one that nobody else sees. */
  readonly board?: VerdictBoard | undefined;
}

export const bootImagesGate = 'ManagedBootImages';
export const fieldManager = 'slipway-boot-images';
