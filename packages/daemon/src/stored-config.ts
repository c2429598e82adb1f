import type { MachineConfig } from '@slipway/api';

/** A rendered config as it is kept on the node: its name and all that a machine is made from. */
export interface StoredConfig {
  readonly name: string;
  readonly spec: NonNullable<MachineConfig['spec']>;
}
