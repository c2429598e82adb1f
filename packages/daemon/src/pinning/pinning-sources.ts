// What the pinning part of a daemon watches of the cluster: its own record, and its own Node, as little of it as it needs.
import { machineConfigNodes, type Node, nodes } from '@slipway/api/resources';
import type { ControllerDef, Read, Stored } from '@slipway/kube';
import { nodeConditionOf } from './node-condition.ts';
import type { PinSeen } from './pinner.ts';

/** Of one node, or of all that there are. */
export function pinningSources(of: { readonly node: string } | 'all'): Pick<ControllerDef, 'reads' | 'owns'> {
  const one = of === 'all' ? { expect: 'many' as const } : { fieldSelector: `metadata.name=${of.node}` };
  return {
    reads: [
      { resource: nodes, project: keepConditions, ...one },
      { resource: machineConfigNodes, as: 'metadata', ...one },
    ],
    owns: [{ resource: machineConfigNodes, subresource: 'status' }],
  };
}

const NEEDED: ReadonlySet<string> = new Set(['Ready', 'DiskPressure']);

/** A Node changes every few minutes with nothing that matters here: what is kept is the same then, and wakes nobody. */
function keepConditions({ metadata, status }: Stored<Node>): Stored<Node> {
  const { name, uid, resourceVersion } = metadata;
  const conditions = (status?.conditions ?? [])
    .filter(({ type }) => NEEDED.has(type))
    .map((condition) => ({ type: condition.type, status: condition.status }));
  return { metadata: { name, uid, resourceVersion }, status: { conditions } };
}

export const pinsSeenBy = (read: Read, nodeName: string): PinSeen => ({
  machineConfigNode: read(machineConfigNodes, { as: 'metadata' }).get(nodeName),
  node: nodeConditionOf(read(nodes).get(nodeName)),
});
