// The state of a fleet at one moment, for status, why and plan.
import type { MachineConfigNode, MachineConfigPool, MachineConfiguration, Node } from '@slipway/api';
import type { Stored } from '../kube-object.ts';

export interface FleetSnapshot {
  /** By name. */
  readonly pools: readonly Stored<MachineConfigPool>[];
  /** By name; only the fields that are used. */
  readonly nodes: readonly Stored<Node>[];
  /** By the name of the node. */
  readonly machineConfigNodes: ReadonlyMap<string, MachineConfigNode>;
  /** The one named `cluster`; undefined: it does not exist. */
  readonly machineConfiguration: MachineConfiguration | undefined;
}

/** A Node without large fields that are not used: managed fields, images, volumes. */
export function slimNode({ metadata, spec, status }: Stored<Node>): Stored<Node> {
  Reflect.deleteProperty(metadata, 'managedFields');
  return {
    metadata,
    ...(spec !== undefined && { spec }),
    status: {
      ...(status?.conditions !== undefined && { conditions: status.conditions }),
      ...(status?.nodeInfo !== undefined && { nodeInfo: status.nodeInfo }),
    },
  };
}

export const byName = (a: { metadata: { name: string } }, b: { metadata: { name: string } }): number =>
  a.metadata.name < b.metadata.name ? -1 : 1;
