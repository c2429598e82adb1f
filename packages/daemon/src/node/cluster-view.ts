// The part of the cluster that a daemon watches, and what it reads there about one node.
import type { MachineConfigNode, MachineConfiguration, Node } from '@slipway/api';
import { drainBlockedAnnotation, nodeAnnotations } from '@slipway/api/names';
import { machineConfigNodes, machineConfigurations, nodes } from '@slipway/api/resources';
import type { ControllerDef, Key, StoreReader } from '@slipway/kube';

export interface ClusterView {
  readonly node: Pick<Node, 'metadata'>;
  readonly machineConfigNode: Pick<MachineConfigNode, 'metadata'> | undefined;
  readonly machineConfiguration: MachineConfiguration | undefined;
}

/** Null: the Node does not have the annotation. */
export interface NodeAnnotations {
  readonly currentConfig: string | null;
  readonly desiredConfig: string | null;
  readonly desiredDrain: string | null;
  readonly lastAppliedDrain: string | null;
  /** What the drain is waiting for, as the controller reports it. '' for nothing. */
  readonly drainBlocked: string;
}

export function readNodeAnnotations({ node }: ClusterView): NodeAnnotations {
  const { annotations = {} } = node.metadata;
  return {
    currentConfig: annotations[nodeAnnotations.currentConfig] ?? null,
    desiredConfig: annotations[nodeAnnotations.desiredConfig] ?? null,
    desiredDrain: annotations[nodeAnnotations.desiredDrain] ?? null,
    lastAppliedDrain: annotations[nodeAnnotations.lastAppliedDrain] ?? null,
    drainBlocked: annotations[drainBlockedAnnotation] ?? '',
  };
}

export const formatDrainRequest = (config: string): string => `drain-${config}`;
export const formatUncordonRequest = (config: string): string => `uncordon-${config}`;

/** Whether a node that no longer needs a drain is still cordoned, or has asked to be. */
export function needsUncordon(
  current: string,
  { desiredDrain, lastAppliedDrain }: Pick<NodeAnnotations, 'desiredDrain' | 'lastAppliedDrain'>,
): boolean {
  const isAway = lastAppliedDrain?.startsWith('drain-') === true || desiredDrain?.startsWith('drain-') === true;
  return isAway || (desiredDrain === formatUncordonRequest(current) && lastAppliedDrain !== desiredDrain);
}

const CLUSTER = 'cluster';

/** Downloads and OS changes take long. A step that hangs is visible in its condition. */
const STEP_LIMIT_MS = 3 * 3_600_000;

/** For one node, or for all that `nodeNames` currently returns. */
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
export function readClusterView(read: StoreReader, nodeName: string): ClusterView | null {
  const node = read(nodes, { as: 'metadata' }).get(nodeName);
  if (node === undefined) return null;
  return {
    node,
    machineConfigNode: read(machineConfigNodes, { as: 'metadata' }).get(nodeName),
    machineConfiguration: read(machineConfigurations).get(CLUSTER),
  };
}
