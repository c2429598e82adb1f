// A stand-in for the infrastructure provider of AWS. Cluster API's own controllers clone AWSMachines from templates, and
// each is a machine in the memory of Cluster API's own in-memory provider: this controller only passes on what the two
// say about it, where the real provider would create an instance.
import { INFRASTRUCTURE_GROUP } from '@slipway/fleet/boot-images';
import {
  type Context,
  type ControllerDef,
  done,
  type KubeObject,
  type OwnerReference,
  type Resource,
  type Stored,
} from '@slipway/kube';
import type { CustomResourceDefinition } from '@slipway/testing/resources';

export interface ProviderMachine extends KubeObject {
  spec?: { readonly providerID?: string; readonly ami?: { readonly id?: string }; readonly backend?: object };
  status?: { readonly ready?: boolean; readonly initialization?: { readonly provisioned?: boolean } };
}

const infrastructure = { group: INFRASTRUCTURE_GROUP, version: 'v1beta2', namespaced: true } as const;
export const awsMachines: Resource<ProviderMachine> = { ...infrastructure, kind: 'AWSMachine', plural: 'awsmachines' };
export const devMachines: Resource<ProviderMachine> = { ...infrastructure, kind: 'DevMachine', plural: 'devmachines' };
export const devClusters: Resource<KubeObject & { spec: object }> = {
  ...infrastructure,
  kind: 'DevCluster',
  plural: 'devclusters',
};
export const devMachineTemplates: Resource<KubeObject & { spec: object }> = {
  ...infrastructure,
  kind: 'DevMachineTemplate',
  plural: 'devmachinetemplates',
};

const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } as const;

/** As far as Cluster API reads it: the contract's version is in a label, as on the real provider's CRD. */
export const awsMachineCrd: CustomResourceDefinition = {
  metadata: {
    name: `${awsMachines.plural}.${INFRASTRUCTURE_GROUP}`,
    labels: { 'cluster.x-k8s.io/provider': 'infrastructure-aws', 'cluster.x-k8s.io/v1beta1': awsMachines.version },
  },
  spec: {
    group: INFRASTRUCTURE_GROUP,
    scope: 'Namespaced',
    names: { kind: 'AWSMachine', plural: awsMachines.plural, singular: 'awsmachine', listKind: 'AWSMachineList' },
    versions: [
      {
        name: awsMachines.version,
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: 'object', properties: { spec: open, status: open } } },
      },
    ],
  },
};

const FINALIZER = 'awsmachine.infrastructure.cluster.x-k8s.io';

/** A machine in memory that is there at once. */
export const memoryBackend = { inMemory: { vm: { provisioning: { startupDuration: '0s' } } } };

export const awsStandIn = (namespace: string): ControllerDef => ({
  name: 'aws-stand-in',
  reads: [
    { resource: awsMachines, namespace },
    { resource: devMachines, namespace, keysOf: ({ metadata }) => [`${namespace}/${metadata.name}`] },
  ],
  owns: [{ resource: awsMachines }, { resource: awsMachines, subresource: 'status' }, { resource: devMachines }],
  workers: 4,
  async reconcile(key, context) {
    const machine = context.read(awsMachines).get(key);
    const inMemory = context.read(devMachines).get(key);
    if (machine === undefined) return done();
    if (machine.metadata.deletionTimestamp === undefined) await provision(machine, inMemory, context);
    else await remove(machine, inMemory, context);
    return done();
  },
});

type Found = Stored<ProviderMachine>;

async function provision(machine: Found, inMemory: Found | undefined, { write }: Context): Promise<void> {
  const { name, namespace = '', finalizers = [], labels = {} } = machine.metadata;
  const owner = machineOwner(machine);
  if (owner === undefined) return;
  if (!finalizers.includes(FINALIZER)) {
    await write.patch(awsMachines, machine, { metadata: { finalizers: [...finalizers, FINALIZER] } });
  } else if (inMemory === undefined) {
    const { apiVersion, kind, name: of, uid } = owner;
    const metadata = { name, namespace, labels, ownerReferences: [{ apiVersion, kind, name: of, uid }] };
    await write.createIfAbsent(devMachines, { metadata, spec: { backend: memoryBackend } });
  } else if (inMemory.status?.initialization?.provisioned === true && machine.status?.ready !== true) {
    const { providerID } = inMemory.spec ?? {};
    const named = await write.patch(awsMachines, machine, { spec: { providerID } });
    await write.patchStatus(awsMachines, named, { ready: true, initialization: { provisioned: true } });
  }
}

/** The machine in memory first, as an instance would be. */
async function remove(machine: Found, inMemory: Found | undefined, { write }: Context): Promise<void> {
  if (inMemory === undefined) await write.patch(awsMachines, machine, { metadata: { finalizers: null } });
  else if (inMemory.metadata.deletionTimestamp === undefined) await write.remove(devMachines, inMemory);
}

/** Set by Cluster API's own controllers. */
const machineOwner = ({ metadata }: ProviderMachine): OwnerReference | undefined =>
  metadata.ownerReferences?.find(({ kind }) => kind === 'Machine');
