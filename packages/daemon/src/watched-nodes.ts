// The two watches of a daemon. Updates and pinning share them.
import { machineConfigNodes, type Node, nodes } from '@slipway/api/resources';
import type { ControllerDef, Stored } from '@slipway/kube';

/** The Node and the MachineConfigNode of one node, or of all. */
export function watchNodes(of: { readonly node: string } | 'all'): ControllerDef['reads'] {
  const which = of === 'all' ? { expect: 'many' as const } : { fieldSelector: `metadata.name=${of.node}` };
  return [
    { resource: nodes, project: keepNeeded, ...which },
    { resource: machineConfigNodes, as: 'metadata', ...which },
  ];
}

const NEEDED_CONDITIONS: ReadonlySet<string> = new Set(['Ready', 'DiskPressure']);

/**
 * What configs and images need of a Node. It changes every few minutes in ways that do not matter here: the reduced
 * object then stays equal and triggers no step.
 */
function keepNeeded({ metadata, status }: Stored<Node>): Stored<Node> {
  const { name, uid, resourceVersion, annotations } = metadata;
  const conditions = (status?.conditions ?? [])
    .filter(({ type }) => NEEDED_CONDITIONS.has(type))
    .map((condition) => ({ type: condition.type, status: condition.status }));
  return { metadata: { name, uid, resourceVersion, ...(annotations && { annotations }) }, status: { conditions } };
}
