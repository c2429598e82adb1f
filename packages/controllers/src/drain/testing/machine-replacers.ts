// Stand-ins for the programs that delete machines: the cluster autoscaler and the two controllers of MachineHealthChecks.
// They decide as the real ones do, as far as their annotations go, but wait for no timeout.
import { type Node, nodes, pods } from '@slipway/api';
import type { Client, KubeObject, Resource, Stored } from '@slipway/kube';
import { installCrd } from '@slipway/testing/resources';

interface Machine extends KubeObject {
  spec?: object;
  status: { nodeRef: { name: string } };
}

interface HealthCheck extends KubeObject {
  spec: { selector: { matchLabels: Record<string, string> } };
}

const version = 'v1beta1';
const machine = { version, kind: 'Machine', plural: 'machines', namespaced: true } as const;
/** Served in the newer version only, as Cluster API will. */
export const clusterApiMachines: Resource<Machine> = { ...machine, group: 'cluster.x-k8s.io', version: 'v1beta2' };
export const machineApiMachines: Resource<Machine> = { ...machine, group: 'machine.openshift.io' };
export const healthChecks: Resource<HealthCheck> = {
  group: 'machine.openshift.io',
  version,
  kind: 'MachineHealthCheck',
  plural: 'machinehealthchecks',
  namespaced: true,
};

export const MACHINE_NAMESPACE = 'openshift-machine-api';
export const CLUSTER_NAMESPACE = 'clusters';

export const installMachineKinds = async (client: Client): Promise<void> => {
  for (const { group, version: name, kind, plural } of [clusterApiMachines, machineApiMachines, healthChecks]) {
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
    await installCrd(client, {
      metadata: { name: `${plural}.${group}` },
      spec: {
        group,
        scope: 'Namespaced',
        names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
        versions: [{ name, served: true, storage: true, schema }],
      },
    });
  }
};

/** A Machine of each API for the node, and a MachineHealthCheck `workers` that covers the one of the Machine API. */
export async function addMachine(client: Client, node: string): Promise<Record<string, string>> {
  const labels = { role: 'worker' };
  for (const [resource, namespace] of [
    [clusterApiMachines, CLUSTER_NAMESPACE],
    [machineApiMachines, MACHINE_NAMESPACE],
  ] as const) {
    await client.create(resource, { metadata: { namespace, name: node, labels }, status: { nodeRef: { name: node } } });
  }
  const check = { namespace: MACHINE_NAMESPACE, name: 'workers' };
  if ((await client.find(healthChecks, check)) === undefined) {
    await client.create(healthChecks, { metadata: check, spec: { selector: { matchLabels: labels } } });
  }
  return {
    'cluster.x-k8s.io/machine': node,
    'cluster.x-k8s.io/cluster-namespace': CLUSTER_NAMESPACE,
    'machine.openshift.io/machine': `${MACHINE_NAMESPACE}/${node}`,
  };
}

const has = ({ metadata }: KubeObject, annotation: string): boolean => metadata.annotations?.[annotation] !== undefined;

const isDown = ({ status }: Node): boolean =>
  status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value !== 'True') === true;

/** Which nodes each of them would delete now, in alphabetical order. */
export async function findVictims(
  client: Client,
): Promise<Record<'autoscaler' | 'clusterApi' | 'machineApi', string[]>> {
  const all = await Array.fromAsync(client.list(nodes));
  const down = new Set(all.filter(isDown).map(({ metadata }) => metadata.name));
  const nodeOf = ({ status }: Stored<Machine>): string => status.nodeRef.name;
  const ofDown = (machines: readonly Stored<Machine>[]): string[] =>
    machines.map(nodeOf).filter((name) => down.has(name));
  const [ofClusterApi, ofMachineApi, checks, used] = await Promise.all([
    Array.fromAsync(client.list(clusterApiMachines)),
    Array.fromAsync(client.list(machineApiMachines)),
    Array.fromAsync(client.list(healthChecks)),
    Array.fromAsync(client.list(pods)),
  ]);
  const busy = new Set(used.map(({ spec }) => spec?.nodeName));
  // kubernetes/autoscaler, core/scaledown/eligibility: only this value of the annotation keeps an empty node.
  const isKept = ({ metadata }: Node): boolean =>
    metadata.annotations?.['cluster-autoscaler.kubernetes.io/scale-down-disabled'] === 'true';
  // kubernetes-sigs/cluster-api, reconcilers/machinehealthcheck: both annotations of a Machine, whatever their value.
  const isSkipped = (each: KubeObject): boolean =>
    has(each, 'cluster.x-k8s.io/skip-remediation') || has(each, 'cluster.x-k8s.io/paused');
  // openshift/machine-api-operator, controller/machinehealthcheck: only the annotation of the MachineHealthCheck.
  const active = checks.filter((check) => !has(check, 'cluster.x-k8s.io/paused'));
  const isCovered = ({ metadata }: KubeObject): boolean =>
    active.some(({ spec }) =>
      Object.entries(spec.selector.matchLabels).every(([key, value]) => metadata.labels?.[key] === value),
    );
  return {
    autoscaler: all
      .filter((node) => !busy.has(node.metadata.name) && !isKept(node))
      .map(({ metadata }) => metadata.name)
      .sort(),
    clusterApi: ofDown(ofClusterApi.filter((each) => !isSkipped(each))).sort(),
    machineApi: ofDown(ofMachineApi.filter(isCovered)).sort(),
  };
}
