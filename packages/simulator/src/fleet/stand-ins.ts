// Replacements for what `npm start` does not run: the kubelets of simulated machines, and the disruption controller of
// kube-controller-manager.
import {
  type Node,
  type NodeCondition,
  nodes,
  type Pod,
  type PodDisruptionBudget,
  podDisruptionBudgets,
  pods,
} from '@slipway/api';
import { matchesSelector } from '@slipway/fleet';
import {
  anyVersion,
  type Client,
  type ControllerDef,
  createWriter,
  done,
  isKubeError,
  keyOf,
  type StoreReader,
  type Stored,
  type Writer,
} from '@slipway/kube';
import { createMachineHost, type MachineName, type SimulatedMachine } from './simulated-machine.ts';

export interface StandInKubeletOptions {
  machineOf(this: void, name: string): SimulatedMachine | undefined;
  /** With the credentials of the node. */
  clientOf(this: void, name: string): Client;
  /**
   * Calls `wake` with the name of every machine, and again when it boots or goes down. Returns a function that stops
   * it.
   */
  onPower(this: void, wake: (name: string) => void): () => void;
}

// The kubelet's Node: registers it when the machine boots, and updates its status.

export function standInKubelet({ machineOf, clientOf, onPower }: StandInKubeletOptions): ControllerDef {
  return {
    name: 'stand-in-kubelet',
    reads: [],
    owns: [{ resource: nodes }],
    workers: 8,
    listen: onPower,
    async reconcile(name, { write, now }) {
      const machine = machineOf(name);
      if (machine === undefined) return done();
      const facts = await readMachineFacts(machine);
      const reported = JSON.stringify(facts);
      if (reported === machine.told) return done();
      const kubelet = clientOf(name);
      // Registered by an administrator, because a kubelet may not assign itself a role. And in one step, because a Node
      // without a role belongs to no pool, which would cause a warning.
      const node = (await kubelet.find(nodes, { name })) ?? (await write.createIfAbsent(nodes, buildNode(machine)));
      const status = buildNodeStatus(facts, node?.status?.conditions ?? [], now());
      await createKubeletWriter(kubelet).patchStatus(nodes, anyVersion({ name }), status);
      machine.told = reported;
      return done();
    },
  };
}

export interface MachineFacts {
  readonly isUp: boolean;
  readonly bootId: string;
  /** For example `Simulated machine 9.6`. */
  readonly osImage: string;
}

async function readMachineFacts(machine: SimulatedMachine): Promise<MachineFacts> {
  const host = createMachineHost(machine, () => {});
  const { name, version } = await host.os.describe();
  return { isUp: machine.isUp, bootId: await host.bootId(), osImage: `${name} ${version}` };
}

const createKubeletWriter = (kubelet: Client): Writer => createWriter(kubelet, { fieldManager: 'stand-in-kubelet' });

const ZONES = 3;
/** Shown by `kubectl get nodes` as the version. */
const VERSION = 'v0.0.0-simulated';

const buildNode = (machine: MachineName): Node => ({
  metadata: {
    name: machine.name,
    labels: {
      'kubernetes.io/hostname': machine.name,
      'kubernetes.io/os': 'linux',
      'topology.kubernetes.io/zone': `zone-${(machine.number % ZONES) + 1}`,
      ...roleLabels(machine),
    },
  },
});

const ROLE = 'node-role.kubernetes.io/';

/** Machines of custom pools are workers too. */
const roleLabels = ({ pool }: MachineName): Record<string, string> => ({
  ...(pool !== 'master' && { [`${ROLE}worker`]: '' }),
  [`${ROLE}${pool}`]: '',
});

/** `conditions`: the current ones of the Node. All except Ready belong to other controllers. */
const buildNodeStatus = (
  { isUp, bootId, osImage }: MachineFacts,
  conditions: readonly NodeCondition[],
  now: Date,
): NonNullable<Node['status']> => ({
  conditions: [...conditions.filter(({ type }) => type !== 'Ready'), buildReadyCondition(isUp, now)],
  nodeInfo: { bootID: bootId, osImage, kernelVersion: 'simulated', kubeletVersion: VERSION },
});

function buildReadyCondition(isUp: boolean, now: Date): NodeCondition {
  const at = `${now.toISOString().slice(0, 19)}Z`;
  return {
    type: 'Ready',
    status: isUp ? 'True' : 'False',
    reason: isUp ? 'KubeletReady' : 'KubeletNotReady',
    message: isUp ? 'a simulated machine: no kubelet runs here' : 'the simulated machine is down',
    lastHeartbeatTime: at,
    lastTransitionTime: at,
  };
}

// The kubelet's pods: those bound to a machine are reported as running, and removed when they are deleted.

const BY_NODE = 'by-node';

/** Reconciles all pods of one machine together, because a machine that boots checks all of them. */
export function standInPods({ machineOf, clientOf, onPower }: StandInKubeletOptions): ControllerDef {
  return {
    name: 'stand-in-pods',
    reads: [{ resource: pods, project: trimPod, indexes: { [BY_NODE]: indexByNodeName }, keysOf: indexByNodeName }],
    owns: [{ resource: pods }, { resource: pods, subresource: 'status' }],
    workers: 8,
    listen: onPower,
    async reconcile(node, { read, now }) {
      const machine = machineOf(node);
      if (machine === undefined) return done();
      const kubelet = clientOf(node);
      for (const pod of read(pods).byIndex(BY_NODE, node)) {
        const step = nextPodStep(pod, machine.isUp);
        if (step === 'run') await run(kubelet, pod, now());
        if (step === 'end')
          await createKubeletWriter(kubelet).remove(pods, anyVersion(pod.metadata), { gracePeriodSeconds: 0 });
      }
      return done();
    },
  };
}

const indexByNodeName = ({ spec }: Pod): string[] => (spec?.nodeName === undefined ? [] : [spec.nodeName]);

export type PodStep = 'run' | 'end' | 'nothing';

export function nextPodStep({ metadata, status }: Pod, isUp: boolean): PodStep {
  if (!isUp) return 'nothing';
  // Nothing runs, so there is nothing to wait for.
  if (metadata.deletionTimestamp !== undefined) return 'end';
  return status?.phase === undefined || status.phase === 'Pending' ? 'run' : 'nothing';
}

async function run(kubelet: Client, pod: Stored<Pod>, now: Date): Promise<void> {
  try {
    await createKubeletWriter(kubelet).patchStatus(pods, anyVersion(pod.metadata), buildRunningStatus(now));
  } catch (error) {
    if (!isKubeError(error, 'SLW_KUBE_NOT_FOUND')) throw error;
  }
}

/** Reports the pod as running and ready. */
const buildRunningStatus = (now: Date): NonNullable<Pod['status']> => {
  const lastTransitionTime = `${now.toISOString().slice(0, 19)}Z`;
  const conditions = ['Initialized', 'ContainersReady', 'Ready'].map((type) => ({
    type,
    status: 'True',
    lastTransitionTime,
  }));
  return { phase: 'Running', conditions };
};

/** Drops the fields of a pod that are not used. */
function trimPod({ metadata, spec, status }: Stored<Pod>): Stored<Pod> {
  const { name, namespace, uid, resourceVersion, labels, deletionTimestamp } = metadata;
  return {
    metadata: {
      name,
      uid,
      resourceVersion,
      ...(namespace !== undefined && { namespace }),
      ...(labels !== undefined && { labels }),
      ...(deletionTimestamp !== undefined && { deletionTimestamp }),
    },
    ...(spec?.nodeName !== undefined && { spec: { nodeName: spec.nodeName } }),
    ...(status?.phase !== undefined && { status: { phase: status.phase } }),
  };
}

// Budgets: while a budget has no status, the API server refuses every eviction that it covers.

const BY_NAMESPACE = 'by-namespace';
const indexByNamespace = ({ metadata }: Pod | PodDisruptionBudget): string[] => [metadata.namespace ?? ''];

export const standInBudgets: ControllerDef = {
  name: 'stand-in-budgets',
  reads: [
    { resource: podDisruptionBudgets, indexes: { [BY_NAMESPACE]: indexByNamespace } },
    { resource: pods, project: trimPod, indexes: { [BY_NAMESPACE]: indexByNamespace }, keysOf: listBudgetKeys },
  ],
  owns: [{ resource: podDisruptionBudgets, subresource: 'status' }],
  async reconcile(key, { read, write }) {
    const budget = read(podDisruptionBudgets).get(key);
    if (budget === undefined) return done();
    const status = computeBudgetStatus(budget, read(pods).byIndex(BY_NAMESPACE, budget.metadata.namespace ?? ''));
    if (hasStatus(budget, status)) return done();
    // The API server counts evictions in the same status, and its concurrent writes must not be lost.
    await write.patchStatus(podDisruptionBudgets, budget, status);
    return done();
  },
};

function listBudgetKeys({ metadata }: Pod, read: StoreReader): string[] {
  return read(podDisruptionBudgets)
    .byIndex(BY_NAMESPACE, metadata.namespace ?? '')
    .map(keyOf);
}

function hasStatus(
  { status }: PodDisruptionBudget,
  { disruptedPods, ...wanted }: ReturnType<typeof computeBudgetStatus>,
): boolean {
  const found = status ?? {};
  return (
    Object.keys(disruptedPods).length === 0 &&
    (Object.keys(wanted) as (keyof typeof wanted)[]).every((field) => found[field] === wanted[field])
  );
}

type BudgetStatus = Required<Omit<NonNullable<PodDisruptionBudget['status']>, 'disruptedPods'>> & {
  /** Null: remove the entry. */
  disruptedPods: Record<string, string | null>;
};

/**
 * What a PodDisruptionBudget allows, computed from `pods`, the existing pods of its namespace. In a cluster, the
 * controller also queries the owners of pods for the expected number. Here nothing recreates pods, so the existing ones
 * are expected.
 */
export function computeBudgetStatus(budget: PodDisruptionBudget, pods: readonly Pod[]): BudgetStatus {
  const { generation = 0 } = budget.metadata;
  const matching = pods.filter(({ metadata }) => matchesSelector(budget.spec?.selector, metadata.labels));
  const leaving = Object.keys(budget.status?.disruptedPods ?? {});
  const isHealthy = ({ metadata, status }: Pod): boolean =>
    status?.phase === 'Running' && metadata.deletionTimestamp === undefined && !leaving.includes(metadata.name);
  const expectedPods = matching.length;
  const currentHealthy = matching.filter(isHealthy).length;
  const desiredHealthy = computeDesiredHealthy(budget, expectedPods);
  const there = new Set(pods.map(({ metadata }) => metadata.name));
  return {
    expectedPods,
    currentHealthy,
    desiredHealthy,
    disruptionsAllowed: Math.max(0, currentHealthy - desiredHealthy),
    observedGeneration: generation,
    disruptedPods: Object.fromEntries(leaving.filter((name) => !there.has(name)).map((name) => [name, null])),
  };
}

function computeDesiredHealthy({ spec }: PodDisruptionBudget, expected: number): number {
  const { minAvailable, maxUnavailable } = spec ?? {};
  if (maxUnavailable !== undefined) return Math.max(0, expected - resolveIntOrPercent(maxUnavailable, expected));
  return minAvailable === undefined ? expected : resolveIntOrPercent(minAvailable, expected);
}

/** Percentages are rounded up, as in a cluster. */
function resolveIntOrPercent(amount: number | string, of: number): number {
  if (typeof amount === 'number') return amount;
  const percent = Number.parseInt(amount, 10);
  return Number.isNaN(percent) ? of : Math.ceil((percent / 100) * of);
}
