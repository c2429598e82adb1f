// Boot images of machines that Cluster API's own controllers manage: they set owners and labels, serve the conversion
// and admission webhooks, and decide when machines are replaced. Machines are in the memory of its in-memory provider; a
// stand-in translates AWSMachines for it, because that provider's own templates have no image.
import { clusterApiMachineSets, machineDeployments } from '@slipway/api';
import { INFRASTRUCTURE_GROUP, toTemplateResource } from '@slipway/fleet/boot-images';
import {
  bootImagesData,
  type TemplateCase,
  templateCases,
  TEMPLATE_REGION,
  rhel9,
  olderStream,
  sampleAmi,
} from '@slipway/fleet/boot-images/testing';
import { KubeError, type KubeObject, type Resource, type Stored } from '@slipway/kube';
import { until } from '@slipway/testing/wait';
import { expect, inject, it } from 'vitest';
import { awsMachines, devMachineTemplates, memoryBackend } from './testing/aws-stand-in.ts';
import { places, type Running } from './testing/boot-images-cluster.ts';
import { cluster, prepare, run, untilVerdict, useBootImagesCluster } from './testing/boot-images-fixture.ts';
import { CLUSTER_NAME, type ClusterApiObject, machines, startRealClusterApi } from './testing/real-cluster-api.ts';
import { formatRecording } from './testing/recording.ts';
import { countSpecChanges, countTakenBack, listValues, recordRevisions } from './testing/revisions.ts';

useBootImagesCluster();

const namespace = places.clusterApi;
const templates = toTemplateResource('AWSMachineTemplate', 'v1beta2');
const NEXT_VERSION = '9.9.20270101-0';
/** Replacing machines in sequence, by controllers that share two processors with their API server. */
const ROLLOUT = { withinMs: 240_000, everyMs: 500 };

const inVersion = <T extends KubeObject>(resource: Resource<T>, version: string): Resource<T> => ({
  ...resource,
  version,
  newerVersions: [],
});

interface Owner {
  readonly kind: 'MachineSet' | 'MachineDeployment';
  readonly name: string;
  readonly replicas: number;
  readonly strategy?: 'RollingUpdate' | 'OnDelete';
}

const owners: readonly Owner[] = [
  ...Array.from({ length: 20 }, (_, at): Owner => ({ kind: 'MachineSet', name: `set-${at}`, replicas: 1 })),
  ...Array.from({ length: 5 }, (_, at): Owner => {
    const strategy = at === 4 ? 'OnDelete' : 'RollingUpdate';
    return { kind: 'MachineDeployment', name: `deployment-${at}`, replicas: 2, strategy };
  }),
];
const resourceOf = ({ kind }: Pick<Owner, 'kind'>): Resource =>
  kind === 'MachineSet' ? clusterApiMachineSets : machineDeployments;

const architecture = { 'capacity.cluster-autoscaler.kubernetes.io/labels': 'kubernetes.io/arch=amd64' };

/** As a user writes it: without owner, without labels of Cluster API. Every other one is in the older version. */
function buildOwner(
  { name, replicas, strategy }: Owner,
  reference: { kind: string; name: string },
  version: string,
): ClusterApiObject {
  const group =
    version === 'v1beta1' ? { apiVersion: `${INFRASTRUCTURE_GROUP}/v1beta2` } : { apiGroup: INFRASTRUCTURE_GROUP };
  const rollout =
    version === 'v1beta1' ? { strategy: { type: strategy } } : { rollout: { strategy: { type: strategy } } };
  const labels = { 'example.com/set': name };
  return {
    metadata: { namespace, name, annotations: architecture },
    spec: {
      clusterName: CLUSTER_NAME,
      replicas,
      ...(strategy !== undefined && rollout),
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          clusterName: CLUSTER_NAME,
          version: 'v1.34.0',
          bootstrap: { dataSecretName: 'worker-user-data' },
          infrastructureRef: { ...group, ...reference },
        },
      },
    },
  };
}

const awsCase = templateCases.find(({ kind, verdict }) => kind === templates.kind && verdict === 'change');

async function createOwners(): Promise<void> {
  const { spec }: Pick<TemplateCase, 'spec'> = awsCase ?? { spec: {} };
  for (const [index, owner] of owners.entries()) {
    const { name } = owner;
    const version = index % 2 === 0 ? 'v1beta1' : 'v1beta2';
    await cluster.client.create(templates, { metadata: { namespace, name }, spec: { template: { spec } } });
    const object = buildOwner(owner, { kind: templates.kind, name }, version);
    await cluster.client.create<KubeObject>(inVersion(resourceOf(owner), version), object);
  }
  // A kind that Slipway does not know.
  const name = 'in-memory';
  await cluster.client.create(devMachineTemplates, {
    metadata: { namespace, name },
    spec: { template: { spec: { backend: memoryBackend } } },
  });
  const foreign = buildOwner(
    { kind: 'MachineSet', name, replicas: 1 },
    { kind: devMachineTemplates.kind, name },
    'v1beta2',
  );
  await cluster.client.create<KubeObject>(inVersion(clusterApiMachineSets, 'v1beta2'), foreign);
}

const listMachines = (): Promise<Stored<ClusterApiObject>[]> =>
  Array.fromAsync(cluster.client.list(machines, { namespace }));

/** By the resource that makes them: their machines, each with its image. */
type Images = Readonly<Record<string, Readonly<Record<string, string>>>>;

async function readImages(): Promise<Images> {
  const infrastructure = await Array.fromAsync(cluster.client.list(awsMachines, { namespace }));
  const images = new Map(infrastructure.map(({ metadata, spec }) => [metadata.name, spec?.ami?.id ?? '']));
  const all = Map.groupBy(await listMachines(), ({ metadata }) => metadata.labels?.['example.com/set'] ?? '');
  const read = (list: readonly KubeObject[]) => list.map(({ metadata: { name } }) => [name, images.get(name) ?? '']);
  return Object.fromEntries([...all].map(([name, list]) => [name, Object.fromEntries(read(list))]));
}

const untilAllRun = (count: number): Promise<void> =>
  until(async () => {
    const phases = (await listMachines()).map(({ metadata, status }) => `${metadata.name} ${status?.phase ?? 'new'}`);
    expect(phases.filter((phase) => !phase.endsWith(' Running'))).toEqual([]);
    expect(phases).toHaveLength(count);
  }, ROLLOUT);

/** Like an API server of a cluster with an older Cluster API. */
const onlyV1beta1 = async ({ path }: { path: string }): Promise<void> => {
  if (path.startsWith('/apis/cluster.x-k8s.io/v1beta2'))
    throw new KubeError('SLW_KUBE_KIND_NOT_INSTALLED', 'not served');
};

const compareMachines = (before: Images[string] = {}, now: Images[string] = {}) => ({
  kept: Object.keys(now).filter((name) => name in before).length,
  images: Object.values(now),
});

/** After an update: each resource has its image, and only what Cluster API rolls has other machines. */
async function untilUpdated(running: Running, ami: string, before: Images): Promise<number> {
  const began = Date.now();
  for (const { name } of owners) await untilVerdict(running, name, { verdict: 'current', image: ami });
  const seconds = (Date.now() - began) / 1000;
  await until(async () => {
    const now = await readImages();
    const found = owners.map(({ name }) => ({ name, ...compareMachines(before[name], now[name]) }));
    expect(found).toEqual(
      owners.map(({ name, replicas, strategy }) =>
        strategy === 'RollingUpdate'
          ? { name, kept: 0, images: Array.from({ length: replicas }, () => ami) }
          : { name, kept: replicas, images: Object.values(before[name] ?? {}) },
      ),
    );
  }, ROLLOUT);
  return seconds;
}

/** What our controllers wrote to Cluster API's objects, such as `create awsmachinetemplates`. */
async function countWrites(running: Running): Promise<Record<string, number>> {
  const kinds = new Set(['machinesets', 'machinedeployments', 'machines', templates.plural]);
  // A conflict has written nothing.
  const writes = (await running.writes()).filter(
    ({ resource, code }) => kinds.has(resource.split('/')[0] ?? '') && code !== 409,
  );
  const groups = Map.groupBy(writes, ({ verb, resource, code }) => `${verb} ${resource} ${code}`);
  return Object.fromEntries([...groups].map(([key, found]) => [key, found.length]));
}

const oneEach = {
  'create awsmachinetemplates 201': 25,
  'patch machinesets 200': 20,
  'patch machinedeployments 200': 5,
};

const amiOf = (version: string): string => sampleAmi(version, 'x86_64', TEMPLATE_REGION);

it('20 MachineSets and 5 MachineDeployments that real controllers own get one template per upgrade, and nothing is taken back', async () => {
  const { programs } = inject('clusterApi');
  if (programs === undefined) throw new Error('Cluster API was not built');
  const started = Date.now();
  const elapsed = (): string => `${((Date.now() - started) / 1000).toFixed(0)} s`;
  await prepare('None');
  await cluster.setPlatform('AWS', { aws: { region: TEMPLATE_REGION } });
  const clusterApi = await startRealClusterApi(cluster, programs);
  try {
    await createOwners();
    await untilAllRun(20 + 10 + 1 + 1);
    console.log(`${programs.version}: 32 machines run after ${elapsed()}`);
    const recording = await formatRecording(cluster.client, namespace);
    const revisions = await recordRevisions(cluster.client, [clusterApiMachineSets, machineDeployments], namespace);
    const initial = await readImages();

    const first = await run({ beforeRequest: onlyV1beta1 });
    const firstSeconds = await untilUpdated(first, amiOf(rhel9.version), initial);
    expect(await countWrites(first)).toEqual(oneEach);
    console.log(
      `first upgrade through v1beta1: all resources updated after ${firstSeconds} s, machines after ${elapsed()}`,
    );
    await first.stop();

    const between = await readImages();
    const second = await run();
    await cluster.setGolden(bootImagesData({ 'rhel-9': { ...rhel9, version: NEXT_VERSION } }, '4.23.0'));
    const secondSeconds = await untilUpdated(second, amiOf(NEXT_VERSION), between);
    expect(await countWrites(second)).toEqual(oneEach);
    console.log(
      `second upgrade through v1beta2: all resources updated after ${secondSeconds} s, machines after ${elapsed()}`,
    );

    // A new machine of a MachineSet has the new image; the others stay as they are.
    const scaled = { namespace, name: 'set-0' };
    await cluster.client.patch(clusterApiMachineSets, scaled, { type: 'merge', body: { spec: { replicas: 2 } } }, {});
    await until(async () => {
      const images = Object.values((await readImages())[scaled.name] ?? {}).toSorted();
      expect(images).toEqual([amiOf(olderStream.version), amiOf(NEXT_VERSION)].toSorted());
    }, ROLLOUT);

    // A MachineSet whose template has no image that Slipway knows is left alone.
    expect(second.verdict('in-memory')).toMatchObject({ verdict: 'failed', code: 'SLW_BOOT_IMAGES_SPEC' });
    revisions.stop();
    const takenBack = owners.map(({ name }) => countTakenBack(revisions.all, name));
    const made = owners.map(({ name }) => listValues(revisions.all, name).length - 1);
    console.log(
      `${revisions.all.length} revisions, ${made.reduce((sum, count) => sum + count, 0)} changes of a template, ${takenBack.reduce((sum, count) => sum + count, 0)} writes taken back, ${elapsed()}`,
    );
    expect(takenBack).toEqual(owners.map(() => 0));
    expect(made).toEqual(owners.map(() => 2));
    expect(listValues(revisions.all, 'in-memory')).toHaveLength(1);
    // Nobody but Slipway has changed a spec, and the scaling above.
    expect(owners.map(({ name }) => ({ name, changes: countSpecChanges(revisions.all, name) }))).toEqual(
      owners.map(({ name }) => ({ name, changes: name === scaled.name ? 3 : 2 })),
    );
    await expect(recording).toMatchFileSnapshot('testing/cluster-api-objects.yaml');
  } finally {
    await clusterApi.stop();
  }
});
