// What a daemon watches of the cluster, and what it makes of it for one node.
import { machineConfigNodes, machineConfigurations, nodes } from '@slipway/api/resources';
import type { ControllerDef, Key, Read } from '@slipway/kube';
import type { Seen } from './seen.ts';

const CLUSTER = 'cluster';

/** Downloads and OS changes take their time; that a step hangs shows in its condition. */
const STEP_LIMIT_MS = 3 * 3_600_000;

/** Of one node, or of all that `nodeNames` names at a moment. */
export function daemonSources(
  of: { readonly node: string } | { readonly nodeNames: () => readonly string[] },
): Pick<ControllerDef, 'reads' | 'owns' | 'timeLimitMs'> {
  const one = 'node' in of ? { fieldSelector: `metadata.name=${of.node}` } : { expect: 'many' as const };
  const names = (): readonly Key[] => ('node' in of ? [of.node] : of.nodeNames());
  return {
    reads: [
      { resource: nodes, as: 'metadata', ...one },
      { resource: machineConfigNodes, as: 'metadata', ...one },
      { resource: machineConfigurations, fieldSelector: `metadata.name=${CLUSTER}`, keysOf: names },
    ],
    owns: [{ resource: nodes }, { resource: machineConfigNodes, subresource: 'status' }],
    timeLimitMs: STEP_LIMIT_MS,
  };
}

/** Null: the kubelet has not registered the machine yet. */
export function seenBy(read: Read, nodeName: string): Seen | null {
  const node = read(nodes, { as: 'metadata' }).get(nodeName);
  if (node === undefined) return null;
  return {
    node,
    machineConfigNode: read(machineConfigNodes, { as: 'metadata' }).get(nodeName),
    machineConfiguration: read(machineConfigurations).get(CLUSTER),
  };
}
