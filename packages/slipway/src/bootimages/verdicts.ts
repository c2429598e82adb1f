// What the controllers do about every resource that makes machines: the same decisions, on what was read just now.
import type { MachineSet } from '@slipway/api';
import {
  type ClusterApiMachines,
  clusterApiUserDataOf,
  decideResource,
  type MachineResource,
  readMachineSet,
  resourceFacts,
  type ResourceFacts,
  type StubReading,
} from '@slipway/fleet/boot-images';
import { type BootImageEntry, entryOf } from '@slipway/fleet/reports';
import type { Client, Stored } from '@slipway/kube';
import { type Machines, ofClusterApi, ofMachineApi } from './machine-resources.ts';
import type { ReadCluster } from './read-cluster.ts';
import { createStubReader } from './read-stub.ts';
import { createTemplateReader } from './read-template.ts';

export async function readVerdicts(
  client: Client,
  machines: Machines,
  cluster: ReadCluster,
): Promise<BootImageEntry[]> {
  const facts = [
    ...(await machineApiFacts(client, machines, cluster)),
    ...(await clusterApiFacts(client, machines, cluster)),
  ];
  return facts.map((each) => entryOf(decideResource(each, cluster.facts), cluster.failures));
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
  const factsOf = async (resource: MachineResource, object: ClusterApiMachines): Promise<ResourceFacts> => {
    const userData = clusterApiUserDataOf(object);
    return {
      ...resourceFacts(resource, object, resource.kind === 'MachineSet' ? twins.get(resource.name) : undefined),
      machine: (await readMachine(resource, object)).machine,
      stub: userData === null ? madeByProvider : await readStub(resource, userData),
    };
  };
  const facts: ResourceFacts[] = [];
  for (const set of machines.clusterApiMachineSets) facts.push(await factsOf(ofClusterApi('MachineSet')(set), set));
  for (const deployment of machines.machineDeployments) {
    facts.push(await factsOf(ofClusterApi('MachineDeployment')(deployment), deployment));
  }
  return facts;
}

/** A bootstrap provider makes user data for each machine, and knows best what is in it. */
const madeByProvider: StubReading = { ok: true, current: '', wanted: '', note: '', needsNewImage: false };
