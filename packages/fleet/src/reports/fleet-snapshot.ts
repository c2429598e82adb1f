// A fleet as its cluster has it at one moment: what status, why and plan look at.
import type { MachineConfigNode, MachineConfigPool, MachineConfiguration, Node } from '@slipway/api';
import type { Stored } from '../kube-object.ts';

export interface FleetSnapshot {
  /** By name. */
  readonly pools: readonly Stored<MachineConfigPool>[];
  /** By name; only what is looked at of them. */
  readonly nodes: readonly Stored<Node>[];
  /** By the name of the node. */
  readonly machineConfigNodes: ReadonlyMap<string, MachineConfigNode>;
  /** The one named `cluster`; undefined: nobody has made it. */
  readonly machineConfiguration: MachineConfiguration | undefined;
}

/** A Node without what grows large on it and nobody looks at: fields' managers, images, volumes. */
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
