// Before a drained node may reboot: prevents that a MachineHealthCheck replaces its machine meanwhile.
// Read when needed and not watched: in most clusters one of these APIs is missing.
import { createKeyedQueue } from '@slipway/base/concurrency';
import { type Node, nodes } from '@slipway/api';
import { formatProblem } from '@slipway/fleet';
import {
  checksMachine,
  isMachineOf,
  isProtected,
  type Machine,
  type MachineHealthCheck,
  readMachineReferences,
  readRebootingNodes,
  turnOff,
  turnOn,
} from '@slipway/fleet/drain';
import {
  type Context,
  isKubeError,
  type KubeObject,
  isServed,
  type Owned,
  type Resource,
  type Stored,
} from '@slipway/kube';

type Name = Readonly<Record<'namespace' | 'name', string>>;

const machineKind = { version: 'v1beta1', kind: 'Machine', plural: 'machines', namespaced: true } as const;

const clusterApiMachines: Resource<Machine> = {
  ...machineKind,
  group: 'cluster.x-k8s.io',
  newerVersions: ['v1beta2'],
};

const machineApiMachines: Resource<Machine> = { ...machineKind, group: 'machine.openshift.io' };

const machineHealthChecks: Resource<MachineHealthCheck> = {
  group: 'machine.openshift.io',
  version: 'v1beta1',
  kind: 'MachineHealthCheck',
  plural: 'machinehealthchecks',
  namespaced: true,
};

export const ownedForProtection: readonly Owned[] = [
  { resource: clusterApiMachines },
  { resource: machineHealthChecks },
];

/** Writes only changes. Returns why the node's machine is not protected; null if it is, or if it needs no protection. */
export async function protectMachine(node: Stored<Node>, context: Context): Promise<string | null> {
  try {
    for (const { api, ...reference } of readMachineReferences(node)) {
      if (api === 'cluster.x-k8s.io') await skipRemediation(node, reference, context);
      else await pauseHealthChecks(node, reference, context);
    }
    return null;
  } catch (error) {
    if (isKubeError(error, 'SLW_KUBE_FORBIDDEN', 'SLW_KUBE_INVALID')) return formatProblem(error);
    throw error;
  }
}

async function skipRemediation({ metadata }: Stored<Node>, reference: Name, context: Context): Promise<void> {
  const machine = await findMachine(clusterApiMachines, reference, metadata.name, context);
  if (machine === undefined) return;
  await annotate(clusterApiMachines, machine, turnOn(machine, 'skip-remediation', metadata.name), context);
}

async function pauseHealthChecks({ metadata }: Stored<Node>, reference: Name, context: Context): Promise<void> {
  const machine = await findMachine(machineApiMachines, reference, metadata.name, context);
  if (machine === undefined) return;
  await changeHealthChecks(
    reference.namespace,
    async (check) => (checksMachine(check, machine) ? turnOn(check, 'paused', metadata.name) : null),
    context,
  );
}

export async function releaseMachine(node: Stored<Node>, context: Context): Promise<void> {
  for (const { api, ...reference } of readMachineReferences(node)) {
    if (api === 'cluster.x-k8s.io') {
      const machine = await findMachine(clusterApiMachines, reference, node.metadata.name, context);
      if (machine !== undefined) {
        const isFinished = (name: string): boolean => name === node.metadata.name;
        await annotate(clusterApiMachines, machine, turnOff(machine, 'skip-remediation', isFinished), context);
      }
    } else {
      await changeHealthChecks(
        reference.namespace,
        async (check) => turnOff(check, 'paused', (name) => name === node.metadata.name),
        context,
      );
    }
  }
}

/** Health checks that are paused for nodes that were deleted: no Node records it. */
export const releaseAbandoned = (namespace: string, context: Context): Promise<void> =>
  changeHealthChecks(
    namespace,
    async (check) => {
      const abandoned = new Set<string>();
      for (const name of readRebootingNodes(check)) {
        if (!(await isStillProtected(name, context))) abandoned.add(name);
      }
      return turnOff(check, 'paused', (name) => abandoned.has(name));
    },
    context,
  );

/** A Node of that name may have joined again. The watch may lag behind the write that protects it. */
async function isStillProtected(name: string, { read, client, signal }: Context): Promise<boolean> {
  const known = read(nodes).get(name);
  if (known !== undefined && isProtected(known)) return true;
  const live = await client.find(nodes, { name }, { signal });
  return live !== undefined && isProtected(live);
}

async function findMachine(
  resource: Resource<Machine>,
  name: Name,
  node: string,
  context: Context,
): Promise<Stored<Machine> | undefined> {
  const { client, signal } = context;
  const machine = await unlessMissing(resource, client.find(resource, name, { signal }), undefined, context);
  return machine !== undefined && isMachineOf(machine, node) ? machine : undefined;
}

const inTurn = createKeyedQueue();

/** One change after another: nodes are updated together, and their writes to the same object would conflict. */
const changeHealthChecks = (
  namespace: string,
  decide: (check: Stored<MachineHealthCheck>) => Promise<ReturnType<typeof turnOn>>,
  context: Context,
): Promise<void> =>
  inTurn(namespace, async () => {
    for (const check of await listHealthChecks(namespace, context)) {
      await annotate(machineHealthChecks, check, await decide(check), context);
    }
  });

function listHealthChecks(namespace: string, context: Context): Promise<Stored<MachineHealthCheck>[]> {
  const { client, signal } = context;
  const checks = Array.fromAsync(client.list(machineHealthChecks, { namespace, signal }));
  return unlessMissing(machineHealthChecks, checks, [], context);
}

/**
 * The API of the machines may be in another cluster, or nowhere. The controller then needs no permission for it, and
 * without permission the API server answers 403, not 404.
 */
async function unlessMissing<T>(resource: Resource, read: Promise<T>, otherwise: T, context: Context): Promise<T> {
  try {
    return await read;
  } catch (error) {
    if (isKubeError(error, 'SLW_KUBE_KIND_NOT_INSTALLED')) return otherwise;
    if (!isKubeError(error, 'SLW_KUBE_FORBIDDEN')) throw error;
    if (!(await isServedInAnyVersion(resource, context))) return otherwise;
    throw error;
  }
}

async function isServedInAnyVersion(resource: Resource, { client, signal }: Context): Promise<boolean> {
  for (const version of [...(resource.newerVersions ?? []), resource.version]) {
    if (await isServed(client.transport, { ...resource, version }, signal)) return true;
  }
  return false;
}

async function annotate(
  resource: Resource,
  object: Stored<KubeObject>,
  annotations: ReturnType<typeof turnOn>,
  { write, log }: Context,
): Promise<void> {
  if (annotations === null) return;
  await write.patch(resource, object, { metadata: { annotations } });
  const { namespace, name } = object.metadata;
  log.info(
    { kind: resource.kind, object: `${namespace}/${name}`, annotations },
    'updated the protection of a machine from its health check',
  );
}
