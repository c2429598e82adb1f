// Nodes as the controllers of a rollout see them: one watch for all of them.
import { nodes } from '@slipway/api';
import type { Node, NodeCondition } from '@slipway/api';
import type { Source, Stored } from '@slipway/kube';

const ourAnnotation = /^(machineconfiguration\.openshift\.io|slipway\.dev)\//;
const keptConditions: ReadonlySet<string> = new Set(['Ready', 'DiskPressure', 'NetworkUnavailable']);

/** There are thousands, of 10 kB and more, and kubelets write to them all the time. Sources with this function share a store. */
function keepWhatDecides({ metadata, spec, status }: Stored<Node>): Stored<Node> {
  const osImage = status?.nodeInfo?.osImage;
  return {
    metadata: keptOf(metadata),
    spec: { ...(spec?.unschedulable === true && { unschedulable: true }) },
    status: {
      conditions: (status?.conditions ?? []).filter(({ type }) => keptConditions.has(type)).map(withoutHeartbeat),
      ...(osImage !== undefined && { nodeInfo: { osImage } }),
    },
  };
}

function keptOf({ name, uid, resourceVersion, ...rest }: Stored<Node>['metadata']): Stored<Node>['metadata'] {
  const { creationTimestamp, deletionTimestamp, labels = {}, annotations = {} } = rest;
  const ours = Object.entries(annotations).filter(([key]) => ourAnnotation.test(key));
  return {
    name,
    uid,
    resourceVersion,
    labels,
    annotations: Object.fromEntries(ours),
    ...(creationTimestamp !== undefined && { creationTimestamp }),
    ...(deletionTimestamp !== undefined && { deletionTimestamp }),
  };
}

const withoutHeartbeat = ({ lastHeartbeatTime: _heartbeat, ...condition }: NodeCondition): NodeCondition => condition;

export const fleetNodes: Source<Node> = { resource: nodes, as: 'full', expect: 'many', project: keepWhatDecides };
