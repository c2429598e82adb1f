// Keeps other programs from deleting a machine that is away for its update: the cluster autoscaler, which deletes empty
// nodes, and MachineHealthChecks, which replace machines whose nodes are not ready.
import { type Node, rebootingNodesAnnotation, scaleDownBeforeAnnotation } from '@slipway/api';
import type { KubeObject } from '../kube-object.ts';
import { type LabelSelector, matchesSelector } from '../render/select.ts';

type Annotations = Readonly<Record<string, string>>;
/** As in a merge patch: null removes an annotation. */
type AnnotationPatch = Readonly<Record<string, string | null>>;

/** On a Node: the cluster autoscaler does not delete it if the value is `true` (its eligibility check). */
const SCALE_DOWN_DISABLED = 'cluster-autoscaler.kubernetes.io/scale-down-disabled';
/** On a Machine of Cluster API: no MachineHealthCheck marks it for remediation, whatever the value. */
const SKIP_REMEDIATION = 'cluster.x-k8s.io/skip-remediation';
/**
 * On any object of Cluster API, and on a MachineHealthCheck of the Machine API: its controller leaves it alone, whatever
 * the value. The Machine API has no such switch for a single machine.
 */
const PAUSED = 'cluster.x-k8s.io/paused';
/** The value of a switch that is ours. A switch with another value is left alone. */
const OUR_VALUE = 'slipway.dev';

const CLUSTER_API_MACHINE = 'cluster.x-k8s.io/machine';
const CLUSTER_API_NAMESPACE = 'cluster.x-k8s.io/cluster-namespace';
const MACHINE_API_MACHINE = 'machine.openshift.io/machine';

/** Annotations of other programs on a Node that decide here. */
export const machineAnnotations: ReadonlySet<string> = new Set([
  SCALE_DOWN_DISABLED,
  CLUSTER_API_MACHINE,
  CLUSTER_API_NAMESPACE,
  MACHINE_API_MACHINE,
]);

export interface MachineReference {
  readonly api: 'cluster.x-k8s.io' | 'machine.openshift.io';
  readonly namespace: string;
  readonly name: string;
}

/** The machines that a Node names. Its kubelet can write these annotations: only the Machine's status proves it. */
export function readMachineReferences({ metadata: { annotations = {} } }: Node): MachineReference[] {
  const { [CLUSTER_API_MACHINE]: name, [CLUSTER_API_NAMESPACE]: namespace } = annotations;
  const [, place, machine] = /^([^/]+)\/([^/]+)$/.exec(annotations[MACHINE_API_MACHINE] ?? '') ?? [];
  return [
    ...(name === undefined || namespace === undefined ? [] : [{ api: 'cluster.x-k8s.io', namespace, name } as const]),
    ...(place === undefined || machine === undefined
      ? []
      : [{ api: 'machine.openshift.io', namespace: place, name: machine } as const]),
  ];
}

// The Node: when it is protected. The annotation that records this also restores what users had set.

export const isProtected = ({ metadata }: Node): boolean =>
  metadata.annotations?.[scaleDownBeforeAnnotation] !== undefined;

/** Written with the cordon. A user who enables scale-down again during the update decides. */
export function protectNode(node: Node): AnnotationPatch {
  if (isProtected(node)) return {};
  const before = node.metadata.annotations?.[SCALE_DOWN_DISABLED] ?? '';
  return { [scaleDownBeforeAnnotation]: before, ...(before !== 'true' && { [SCALE_DOWN_DISABLED]: 'true' }) };
}

export function releaseNode({ metadata: { annotations = {} } }: Node): AnnotationPatch {
  const before = annotations[scaleDownBeforeAnnotation];
  if (before === undefined) return {};
  const isOurs = annotations[SCALE_DOWN_DISABLED] === 'true' && before !== 'true';
  return {
    [scaleDownBeforeAnnotation]: null,
    ...(isOurs && { [SCALE_DOWN_DISABLED]: before === '' ? null : before }),
  };
}

/** How long a machine may be down: as long as the rollout waits before it counts as failed. */
const MAX_DOWN_MS = 30 * 60_000;

/**
 * Until when a Node whose requests are all answered stays protected; null: no longer. A health check counts from when
 * the node went down: without protection it would replace a machine that is not ready yet when its update ends.
 */
export function protectedUntil(node: Node, isUpdating: boolean, now: number): number | null {
  const downSince = findDownSince(node);
  if (downSince === null) return isUpdating ? Infinity : null;
  const end = downSince + MAX_DOWN_MS;
  return now < end ? end : null;
}

/** Null: it is up, or its kubelet has not reported yet. */
export function findDownSince({ status }: Node): number | null {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  if (ready === undefined || ready.status === 'True') return null;
  const since = Date.parse(ready.lastTransitionTime ?? '');
  return Number.isNaN(since) ? 0 : since;
}

// The Machine of Cluster API, or the MachineHealthCheck of the Machine API.

/** Of either API. */
export interface Machine extends KubeObject {
  readonly status?: { readonly nodeRef?: { readonly name?: string } };
}

export interface MachineHealthCheck extends KubeObject {
  readonly spec?: { readonly selector?: LabelSelector };
}

export const isMachineOf = ({ status }: Machine, node: string): boolean => status?.nodeRef?.name === node;

export const checksMachine = ({ spec }: MachineHealthCheck, { metadata }: Machine): boolean =>
  matchesSelector(spec?.selector, metadata.labels);

export type Switch = 'skip-remediation' | 'paused';

const keyOfSwitch = { 'skip-remediation': SKIP_REMEDIATION, paused: PAUSED } as const;

/** The nodes that our switch is on for. */
export const readRebootingNodes = ({ metadata }: KubeObject): readonly string[] =>
  (metadata.annotations?.[rebootingNodesAnnotation] ?? '').split(',').filter((name) => name !== '');

/** Null: nothing to write. A switch that another client turned on suffices. */
export function turnOn(object: KubeObject, which: Switch, node: string): AnnotationPatch | null {
  const annotations: Annotations = object.metadata.annotations ?? {};
  const key = keyOfSwitch[which];
  const value = annotations[key];
  if (annotations[PAUSED] !== undefined && key !== PAUSED) return null;
  if (value !== undefined && value !== OUR_VALUE) return null;
  const nodes = readRebootingNodes(object);
  if (value !== undefined && nodes.includes(node)) return null;
  return { [key]: OUR_VALUE, [rebootingNodesAnnotation]: [...new Set([...nodes, node])].toSorted().join(',') };
}

/** Null: nothing to write. It stays on while another node needs it. */
export function turnOff(
  object: KubeObject,
  which: Switch,
  isFinished: (node: string) => boolean,
): AnnotationPatch | null {
  const nodes = readRebootingNodes(object);
  const left = nodes.filter((node) => !isFinished(node));
  if (left.length === nodes.length) return null;
  if (left.length > 0) return { [rebootingNodesAnnotation]: left.join(',') };
  const isOurs = object.metadata.annotations?.[keyOfSwitch[which]] === OUR_VALUE;
  return { [rebootingNodesAnnotation]: null, ...(isOurs && { [keyOfSwitch[which]]: null }) };
}
