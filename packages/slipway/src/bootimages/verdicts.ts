// Computes the controllers' decision for every resource that creates machines, from the current state of the cluster.
import { type MachineSet, secrets } from '@slipway/api';
import {
  type ClusterApiContext,
  type ClusterApiMachines,
  readClusterApiUserData,
  decideResource,
  INFRASTRUCTURE_GROUP,
  type InfrastructureTemplate,
  type MachineReading,
  type MachineResource,
  readMachineSet,
  readStubFacts,
  readTemplate,
  readTemplateReference,
  resourceFacts,
  type ResourceFacts,
  type StubReading,
  type StubSecret,
  toStubSecret,
  templateKind,
  templateQuestion,
  toTemplateResource,
  decideUserData,
  keyOfMachines,
  withNewestMemory,
} from '@slipway/fleet/boot-images';
import { type BootImageEntry, buildBootImageEntry, resourceOfHistory } from '@slipway/fleet/reports';
import { type Client, isKubeError, type Resource, type Stored } from '@slipway/kube';
import { findWhereKnown } from '../cli/cluster.ts';
import { type Machines, ofClusterApi, ofMachineApi } from './machine-resources.ts';
import type { ReadCluster } from './read-cluster.ts';

export async function readVerdicts(
  client: Client,
  machines: Machines,
  cluster: ReadCluster,
): Promise<BootImageEntry[]> {
  const facts = [
    ...(await machineApiFacts(client, machines, cluster)),
    ...(await clusterApiFacts(client, machines, cluster)),
  ];
  const histories = new Map(machines.histories.map((each) => [keyOfMachines(resourceOfHistory(each)), each]));
  return facts.map((each) => {
    const history = histories.get(keyOfMachines(each.resource))?.metadata.annotations;
    return buildBootImageEntry(decideResource(withNewestMemory(each, history), cluster.facts), cluster.failures);
  });
}

async function machineApiFacts(client: Client, machines: Machines, { context }: ReadCluster): Promise<ResourceFacts[]> {
  const readStub = createStubReader(client);
  const facts: ResourceFacts[] = [];
  for (const set of machines.machineSets) {
    const resource = ofMachineApi(set);
    const { machine, userData } = readMachineSet(set, context);
    facts.push({ ...resourceFacts(resource, set), machine, stub: await readStub(resource, userData) });
  }
  return facts;
}

async function clusterApiFacts(client: Client, machines: Machines, { context }: ReadCluster): Promise<ResourceFacts[]> {
  const readStub = createStubReader(client);
  const readMachine = createTemplateReader(client, context);
  const twins = new Map(machines.machineSets.map((set): [string, Stored<MachineSet>] => [set.metadata.name, set]));
  const readFacts = async (resource: MachineResource, object: ClusterApiMachines): Promise<ResourceFacts> => {
    const userData = readClusterApiUserData(object);
    return {
      ...resourceFacts(resource, object, resource.kind === 'MachineSet' ? twins.get(resource.name) : undefined),
      machine: (await readMachine(resource, object)).machine,
      stub: userData === null ? madeByProvider : await readStub(resource, userData),
    };
  };
  const facts: ResourceFacts[] = [];
  for (const set of machines.clusterApiMachineSets) facts.push(await readFacts(ofClusterApi('MachineSet')(set), set));
  for (const deployment of machines.machineDeployments) {
    facts.push(await readFacts(ofClusterApi('MachineDeployment')(deployment), deployment));
  }
  return facts;
}

/** A bootstrap provider creates user data for each machine, so there is no stub to manage. */
const madeByProvider: StubReading = { ok: true, current: '', wanted: '', note: '', needsNewImage: false };

/** Hundreds of MachineSets refer to the same few Secrets, so each is read once. */
function createStubReader(client: Client) {
  const loaded = new Map<string, Promise<StubSecret | null>>();
  const load = (namespace: string, name: string): Promise<StubSecret | null> => {
    if (name === '') return Promise.resolve(null);
    const key = `${namespace}/${name}`;
    const known = loaded.get(key) ?? find(client, namespace, name);
    loaded.set(key, known);
    return known;
  };
  return async ({ api, namespace }: MachineResource, reference: string): Promise<StubReading> => {
    try {
      const facts = await readStubFacts({ api, namespace }, reference, (name) => load(namespace, name));
      return decideUserData(facts).reading;
    } catch (error) {
      if (!isKubeError(error, 'SLW_KUBE_FORBIDDEN')) throw error;
      return hidden(reference);
    }
  };
}

/** A user may lack the permission to read Secrets that the controllers have, so this is not a failure. */
const hidden = (reference: string): StubReading => ({
  ok: true,
  current: reference,
  wanted: reference,
  note: `you are not allowed to read Secret ${reference}, so changes of its user data are not shown`,
  needsNewImage: false,
});

async function find(client: Client, namespace: string, name: string): Promise<StubSecret | null> {
  const secret = await client.find(secrets, { namespace, name });
  return secret === undefined ? null : toStubSecret(secret);
}

const crds: Resource = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  namespaced: false,
};

type Labels = Readonly<Record<string, string>>;

export interface ReadMachines {
  readonly machine: MachineReading;
  /** Null: it does not exist or is invalid. */
  readonly template: {
    readonly resource: Resource<InfrastructureTemplate>;
    readonly object: Stored<InfrastructureTemplate>;
  } | null;
}

/** The labels of a provider's CRD list its supported versions; each CRD is read once. */
export function createTemplateReader(client: Client, context: ClusterApiContext) {
  const known = new Map<string, Labels>();

  async function readLabels(plural: string): Promise<Labels> {
    const crd = known.has(plural) ? undefined : await client.find(crds, { name: `${plural}.${INFRASTRUCTURE_GROUP}` });
    const labels = known.get(plural) ?? crd?.metadata.labels ?? {};
    known.set(plural, labels);
    return labels;
  }

  return async (resource: MachineResource, machines: ClusterApiMachines): Promise<ReadMachines> => {
    const read = readTemplateReference(resource, machines);
    const labels = read.ok ? await readLabels(templateKind(read.reference.kind).plural) : {};
    const question = templateQuestion(read, () => labels);
    if (!question.ok) return { machine: question.reading, template: null };
    const templates = toTemplateResource(question.reference.kind, question.version);
    const object = await findWhereKnown(client, templates, question.reference);
    const machine = readTemplate(machines, question, object, context);
    return { machine, template: object === undefined ? null : { resource: templates, object } };
  };
}
