// A fleet as plain data: what is configured, and what machines there are.
import type { MachineConfig, MachineConfiguration, Node } from '@slipway/api';
import type { PlatformImages } from '../os-streams/pool-os-images.ts';
import type { ReadInput } from '../render/prepare-render.ts';
import type { PlannedConfig } from '../update/plan-update.ts';

/** What people and the platform say. */
export interface FleetState extends PlatformImages {
  /** Given ones and those of the operator; no rendered ones. */
  readonly machineConfigs: readonly MachineConfig[];
  /** The MachineConfiguration `cluster`. */
  readonly settings: MachineConfiguration | undefined;
  readonly controllerVersion: string;
}

/** What there is. */
export interface Machines {
  readonly nodes: readonly Node[];
  /** By name: what pools are at and machines have. One may be missing. */
  readonly rendered: ReadonlyMap<string, PlannedConfig['spec']>;
  /** Where the controllers run; null: not known. */
  readonly controllerNode: string | null;
}

export type ReadConfigs = ReadonlyMap<MachineConfig, ReadInput>;
