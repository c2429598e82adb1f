// Objects as Cluster API's own controllers leave them, as text for a fixture: without what differs from run to run.
import { clusterApiMachineSets, machineDeployments } from '@slipway/api';
import { toTemplateResource } from '@slipway/fleet/boot-images';
import type { Client, KubeObject, Resource, Stored } from '@slipway/kube';
import { stringify } from 'yaml';

interface RecordedObject extends KubeObject {
  spec?: object;
}

/** A MachineSet, a MachineDeployment with the MachineSet that it owns, and their templates; machines in both versions. */
export async function formatRecording(client: Client, namespace: string): Promise<string> {
  const [set, deployment] = ['set-0', 'deployment-1'];
  const recorded: RecordedObject[] = [];
  const list = async (resource: Resource): Promise<Stored<RecordedObject>[]> =>
    Array.fromAsync(client.list<RecordedObject>(resource, { namespace }));
  for (const version of ['v1beta1', 'v1beta2']) {
    const sets = await list({ ...clusterApiMachineSets, version, newerVersions: [] });
    const deployments = await list({ ...machineDeployments, version, newerVersions: [] });
    recorded.push(
      ...sets.filter(({ metadata }) => metadata.name === set),
      ...deployments.filter(({ metadata }) => metadata.name === deployment),
      ...sets.filter(({ metadata }) => metadata.ownerReferences?.some(({ name }) => name === deployment) === true),
    );
  }
  const templates = await list(toTemplateResource('AWSMachineTemplate', 'v1beta2'));
  recorded.push(...templates.filter(({ metadata }) => metadata.name === set || metadata.name === deployment));
  return recorded.map((object) => stringify(withoutRun(object), { lineWidth: 0 })).join('---\n');
}

/** Decisions read no status. The name and the hash of an owned MachineSet are random. */
function withoutRun({ apiVersion = '', kind = '', metadata, spec }: RecordedObject): RecordedObject {
  const { name, namespace = '', labels = {}, annotations = {}, finalizers = [], ownerReferences = [] } = metadata;
  const hash = labels['machine-template-hash'] ?? '';
  const text = JSON.stringify({
    apiVersion,
    kind,
    metadata: {
      name,
      namespace,
      labels,
      // It contains the whole object in the other version.
      annotations:
        'cluster.x-k8s.io/conversion-data' in annotations
          ? { ...annotations, 'cluster.x-k8s.io/conversion-data': '{}' }
          : annotations,
      finalizers,
      ownerReferences: ownerReferences.map((owner) => Object.assign(owner, { uid: `uid-of-${owner.name}` })),
    },
    spec,
  });
  return JSON.parse(
    hash === '' ? text : text.replaceAll(hash, 'hash').replaceAll(/deployment-1-\w{5}\b/g, 'deployment-1-abcde'),
  ) as RecordedObject;
}
