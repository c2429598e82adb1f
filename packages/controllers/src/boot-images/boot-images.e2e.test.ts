// What the boot image controllers promise beyond one change: no image of a release that the cluster has not reached,
// and a coded verdict for every problem. Writes are read from the audit log of the real kube-apiserver.
import {
  bootImageHistories,
  clusterApiMachineSets,
  configMaps,
  machineConfigPools,
  machineSets,
  osStreamAnnotation,
  osStreamImagesAnnotation,
} from '@slipway/api';
import { type BootImageCode, type JsonObject, toTemplateResource } from '@slipway/fleet/boot-images';
import {
  additions,
  awsSpec,
  bootImagesData,
  gcpSpec,
  installer3,
  olderStream,
  rhel9,
  streamMetadata,
} from '@slipway/fleet/boot-images/testing';
import type { KubeObject, Resource } from '@slipway/kube';
import { until, untilRecovered } from '@slipway/testing/wait';
import { sampleCases } from '@slipway/testing/sample';
import { describe, expect, it } from 'vitest';
import { places, type Running } from './testing/boot-images-cluster.ts';
import {
  addMachineSet,
  cluster,
  clusterApiSet,
  buildClusterApiSet,
  everything,
  gcpImage,
  readGcpImage,
  machineApiStub,
  machineSet,
  opt,
  prepare,
  run,
  untilVerdict,
  useBootImagesCluster,
} from './testing/boot-images-fixture.ts';

useBootImagesCluster();

/** With the stub that is already managed. */
const managedSpec: JsonObject = { ...gcpSpec, userDataSecret: { name: 'worker-user-data-managed' } };

const machineSetWrites = async (running: Running, name?: string): Promise<string[]> =>
  (await running.writes())
    .filter(({ resource, name: of }) => resource === 'machinesets' && (name === undefined || of.endsWith(`/${name}`)))
    .map(({ verb, code }) => `${verb} ${code}`);

const place = (name: string) => ({ namespace: places.machineApi, name });
const setAnnotation = (name: string, key: string, value: string | null) =>
  cluster.client.patch(
    machineSets,
    place(name),
    { type: 'merge', body: { metadata: { annotations: { [key]: value } } } },
    {},
  );

async function setMaster(updatedMachineCount: number): Promise<void> {
  const patch = { type: 'merge', body: { status: { updatedMachineCount } } } as const;
  await cluster.client.patch(machineConfigPools, { name: 'master' }, patch, {}, { subresource: 'status' });
}

const withoutArm = (): Record<string, string> => {
  const stream = streamMetadata(rhel9);
  const { aarch64: _, ...architectures } = stream['architectures'] as JsonObject;
  return { releaseVersion: '4.22.0', stream: JSON.stringify({ ...stream, architectures }) };
};
const arm = { 'capacity.cluster-autoscaler.kubernetes.io/labels': 'kubernetes.io/arch=arm64' };
const armSpec: JsonObject = {
  ...managedSpec,
  disks: [{ boot: true, image: gcpImage(olderStream.version).replace('x86-64', 'aarch64') }],
};

const [OLD_OS, NEW_OS] = [`quay.io/os@sha256:${'1'.repeat(64)}`, `quay.io/os@sha256:${'2'.repeat(64)}`];
const nextRelease = () => bootImagesData({ 'rhel-9': { ...rhel9, version: '9.9.20270101-0' } }, '4.23.0');
const stamp = async () => {
  const { data } = await cluster.client.get(configMaps, { namespace: places.ours, name: 'coreos-bootimages' });
  return [data?.['MCOVersionHash'], data?.['MCOReleaseImageVersion']];
};

const createUntilWaits =
  (running: Running) =>
  (why: string): Promise<void> =>
    untilVerdict(running, 'a', {
      verdict: 'skipped',
      code: 'SLW_BOOT_IMAGES_VERSION',
      why: expect.stringContaining(`waiting for ${why}`) as string,
    });

/** As the OS image stream controllers record it. */
const setPoolStream = (osImage: string) => {
  const images = JSON.stringify({ osImage, osExtensionsImage: osImage });
  const annotations = { [osStreamAnnotation]: 'rhel-9', [osStreamImagesAnnotation]: images };
  const body = { metadata: { annotations } };
  return cluster.client.patch(machineConfigPools, { name: 'master' }, { type: 'merge', body }, {});
};

describe('the images of a release that the cluster has not reached', () => {
  it('wait for its OS image streams, if pools follow them', async () => {
    await prepare('GCP', [opt.machineSets()]);
    await cluster.setRelease('4.22.0', '');
    await cluster.setStream('rhel-9', '4.21.0', OLD_OS);
    await addMachineSet('a', gcpSpec);
    const running = await run({ streams: true });
    const untilWaits = createUntilWaits(running);
    await untilWaits('OSImageStream cluster to be built from quay.io/release:4.22.0 (now quay.io/release:4.21.0)');
    await cluster.setStream('rhel-9', '4.22.0', NEW_OS);
    await untilWaits('MachineConfigPool master to be assigned an OS image stream');
    // The pool does not have the new image yet.
    await cluster.setPool('master', 'rendered-master-2', OLD_OS, 3);
    await setPoolStream(OLD_OS);
    await untilWaits(
      `MachineConfigPool master to be rendered with OS image ${NEW_OS} (rendered-master-2 has ${OLD_OS})`,
    );
    await setPoolStream(NEW_OS);
    await cluster.setPool('master', 'rendered-master-3', NEW_OS, 1);
    await untilVerdict(running, 'a', { verdict: 'current' });
    expect(await machineSetWrites(running)).toEqual(['patch 200']);
  });

  it('are not used before the first master runs it, and the report names what is missing', async () => {
    await prepare('GCP', [opt.machineSets()]);
    await cluster.setRelease('4.22.0', OLD_OS);
    await cluster.setPool('master', 'rendered-master-2', OLD_OS, 3);
    await addMachineSet('a', gcpSpec);
    const running = await run();
    await untilVerdict(running, 'a', { verdict: 'current' });
    const untilWaits = createUntilWaits(running);

    // All masters are updated, but to the previous release.
    await cluster.setGolden(nextRelease());
    await untilWaits('status.desired.version of ClusterVersion version to reach 4.23.0 (now 4.22.0)');
    await cluster.setRelease('4.23.0', NEW_OS);
    await untilWaits(
      `MachineConfigPool master to be rendered with OS image ${NEW_OS} (rendered-master-2 has ${OLD_OS})`,
    );
    await cluster.setPool('master', 'rendered-master-3', NEW_OS, 0);
    await untilWaits('the first machine of MachineConfigPool master to be updated to rendered-master-3');
    expect(await stamp()).toEqual([undefined, undefined]);
    expect(await machineSetWrites(running)).toEqual(['patch 200']);
    expect(readGcpImage(await machineSet('a'))).toBe(gcpImage(rhel9.version));

    await cluster.setPool('master', 'rendered-master-3', NEW_OS, 1);
    await untilVerdict(running, 'a', { verdict: 'current', image: gcpImage('9.9.20270101-0') });
    expect(await stamp()).toEqual(['1.2.3', '4.23.0']);
    expect(await machineSetWrites(running)).toEqual(['patch 200', 'patch 200']);
  });
});

describe('a new leader', () => {
  it('continues where the first one stopped, and that one writes nothing more', async () => {
    await prepare('GCP', [opt.machineSets()]);
    await addMachineSet('a', gcpSpec);
    const first = await run({ lease: 'both' });
    await untilVerdict(first, 'a', { verdict: 'current' });
    const second = await run({ lease: 'both' });
    expect(second.verdict('a')).toBeUndefined();
    await first.stop();
    const before = await first.writes();
    await untilVerdict(second, 'a', { verdict: 'current' });
    await cluster.setGolden(nextRelease());
    await untilVerdict(second, 'a', { verdict: 'current', image: gcpImage('9.9.20270101-0') });
    expect(await machineSetWrites(second)).toEqual(['patch 200']);
    expect(await first.writes()).toEqual(before);
  });
});

interface BadInput {
  readonly what: string;
  readonly platform?: string;
  readonly spec?: JsonObject;
  readonly annotations?: Record<string, string>;
  /** Breaks the input before anything runs. */
  spoil(this: void): Promise<unknown>;
  mend(this: void): Promise<unknown>;
  readonly verdict?: 'failed' | 'skipped';
  readonly code: BootImageCode;
}

const userData = (data: Readonly<Record<string, string>> | null) =>
  cluster.setSecret(places.machineApi, 'worker-user-data', data);
const repairStub = () => userData(machineApiStub(installer3()));
const repairGolden = () => cluster.setGolden(bootImagesData());

const badInputs: readonly BadInput[] = [
  { what: 'no ConfigMap', spoil: () => cluster.setGolden(null), mend: repairGolden, code: 'SLW_BOOT_IMAGES_MISSING' },
  {
    what: 'a ConfigMap that cannot be read',
    spoil: () => cluster.setGolden({ releaseVersion: '4.22.0', stream: '{"architectures"', streams: '{}' }),
    mend: repairGolden,
    code: 'SLW_BOOT_IMAGES_INVALID',
  },
  {
    what: 'a ConfigMap with the stamp of another version, and no master that runs the release',
    async spoil() {
      await setMaster(0);
      await cluster.setGolden({ ...bootImagesData(), MCOVersionHash: '0.9.0', MCOReleaseImageVersion: '4.22.0' });
    },
    mend: () => setMaster(1),
    verdict: 'skipped',
    code: 'SLW_BOOT_IMAGES_VERSION',
  },
  {
    what: 'an architecture that the release does not have',
    spec: armSpec,
    annotations: arm,
    spoil: () => cluster.setGolden({ ...withoutArm(), streams: '{}' }),
    mend: repairGolden,
    code: 'SLW_BOOT_IMAGES_ARCH',
  },
  {
    what: 'an unknown architecture',
    annotations: { 'capacity.cluster-autoscaler.kubernetes.io/labels': 'kubernetes.io/arch=z80' },
    spoil: async () => {},
    mend: () => setAnnotation('bad', 'capacity.cluster-autoscaler.kubernetes.io/labels', null),
    code: 'SLW_BOOT_IMAGES_ARCH',
  },
  {
    what: 'a region that the release has no image in',
    platform: 'AWS',
    spec: { ...awsSpec, placement: { region: 'mars-north-1', availabilityZone: 'mars-north-1a' } },
    spoil: async () => {},
    mend: () =>
      cluster.client.patch(
        machineSets,
        place('bad'),
        {
          type: 'merge',
          body: { spec: { template: { spec: { providerSpec: { value: { placement: { region: 'us-east-1' } } } } } } },
        },
        {},
      ),
    code: 'SLW_BOOT_IMAGES_REGION',
  },
  { what: 'no Secret with user data', spoil: () => userData(null), mend: repairStub, code: 'SLW_BOOT_IMAGES_STUB' },
  {
    what: 'user data that is no JSON',
    spoil: () => userData({ userData: '#cloud-config' }),
    mend: repairStub,
    code: 'SLW_BOOT_IMAGES_STUB',
  },
  {
    what: 'user data of an unknown version',
    spoil: () =>
      userData(machineApiStub({ ...installer3(), ignition: { ...installer3().ignition, version: '9.9.9' } })),
    mend: repairStub,
    code: 'SLW_BOOT_IMAGES_STUB',
  },
  {
    what: 'a provider spec of an unknown kind',
    spec: { ...gcpSpec, kind: 'ToasterProviderSpec' },
    spoil: async () => {},
    mend: () =>
      cluster.client.patch(
        machineSets,
        place('bad'),
        {
          type: 'merge',
          body: { spec: { template: { spec: { providerSpec: { value: { kind: gcpSpec['kind'] } } } } } },
        },
        {},
      ),
    code: 'SLW_BOOT_IMAGES_SPEC',
  },
];

describe('a bad input is reported by code, leaves nothing half done, and recovers automatically', () => {
  it.each(sampleCases('bad inputs', badInputs, 2 / 5))(
    '$what',
    async ({ platform, spec = gcpSpec, annotations = {}, spoil, mend, verdict = 'failed', code }) => {
      await prepare(platform);
      await spoil();
      const before = await addMachineSet('bad', spec, { annotations });
      const running = await run();
      await untilVerdict(running, 'bad', { verdict, code });
      expect(await machineSetWrites(running)).toEqual([]);
      expect((await machineSet('bad')).metadata.resourceVersion).toBe(before.metadata.resourceVersion);
      await mend();
      await untilVerdict(running, 'bad', { verdict: 'current', code: null });
      expect(await machineSetWrites(running)).toEqual(['patch 200']);
    },
  );
});

interface Rule extends KubeObject {
  rules?: object[];
  roleRef?: object;
  subjects?: object[];
}
const rbac = (kind: string): Resource<Rule> => ({
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind,
  plural: `${kind.toLowerCase()}s`,
  namespaced: false,
});
const allow = async (name: string, rules: object[]) => {
  await cluster.client.create(rbac('ClusterRole'), { metadata: { name }, rules });
  await cluster.client.create(rbac('ClusterRoleBinding'), {
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'few-rights' }],
  });
};

describe('a failed write', () => {
  it('without permission is reported, and succeeds once it is granted', async () => {
    await prepare();
    await addMachineSet('a', gcpSpec);
    await allow('read-all', [{ apiGroups: ['*'], resources: ['*'], verbs: ['get', 'list', 'watch'] }]);
    await allow('write-most', [
      {
        apiGroups: ['', 'operator.openshift.io', 'machineconfiguration.openshift.io', 'config.openshift.io'],
        resources: ['*'],
        verbs: ['*'],
      },
    ]);
    const running = await run({ groups: ['few-rights'] });
    await untilVerdict(running, 'a', { verdict: 'failed', code: 'SLW_BOOT_IMAGES_WRITE' });
    expect(running.verdict('a')?.why).toContain('SLW_KUBE_FORBIDDEN');
    await until(async () =>
      expect(await running.metrics()).toContain(
        `slipway_boot_image_failed{namespace="${places.machineApi}",name="a",api="machine.openshift.io",kind="MachineSet",code="SLW_BOOT_IMAGES_WRITE"} 1`,
      ),
    );
    await allow('patch-sets', [{ apiGroups: ['machine.openshift.io'], resources: ['machinesets'], verbs: ['patch'] }]);
    await untilRecovered('a MachineSet is updated', () => untilVerdict(running, 'a', { verdict: 'current' }));
    await until(async () => expect(await running.metrics()).not.toContain('name="a"'));
    expect((await machineSetWrites(running)).filter((write) => write !== 'patch 403')).toEqual(['patch 200']);
  });

  it('that always conflicts is reported, and succeeds once the other client stops', async () => {
    await prepare();
    await addMachineSet('a', gcpSpec);
    await cluster.client.create(toTemplateResource('GCPMachineTemplate', 'v1beta1'), {
      metadata: { namespace: places.clusterApi, name: 'template' },
      spec: { template: { spec: { instanceType: 'n2', image: gcpImage(olderStream.version) } } },
    });
    const reference = {
      kind: 'GCPMachineTemplate',
      apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta1',
      name: 'template',
    };
    await cluster.client.create(clusterApiMachineSets, buildClusterApiSet('b', reference));
    let isFighting = true;
    let turn = 0;
    const running = await run({
      async beforeRequest({ method, path }) {
        if (!isFighting || method !== 'PATCH' || !/machinesets\/[ab]$/.test(path)) return;
        turn += 1;
        const body = { metadata: { labels: { turn: String(turn) } } };
        const [resource, name] = path.endsWith('/a')
          ? [machineSets, place('a')]
          : [clusterApiMachineSets, { namespace: places.clusterApi, name: 'b' }];
        await cluster.client.patch<KubeObject>(resource, name, { type: 'merge', body }, {});
      },
    });
    for (const name of ['a', 'b']) {
      await untilVerdict(running, name, { verdict: 'failed', code: 'SLW_BOOT_IMAGES_WRITE' });
      expect(running.verdict(name)?.why).toContain('another client changed it');
    }
    expect(readGcpImage(await machineSet('a'))).toBe(gcpImage(olderStream.version));
    expect((await clusterApiSet('b')).spec?.template?.spec?.infrastructureRef.name).toBe('template');
    isFighting = false;
    for (const name of ['a', 'b']) await untilVerdict(running, name, { verdict: 'current' });
    for (const name of ['a', 'b']) {
      const writes = await machineSetWrites(running, name);
      expect(new Set(writes.slice(0, -1))).toEqual(new Set(['patch 409']));
      expect(writes.at(-1)).toBe('patch 200');
    }
  });

  it('that conflicts twice succeeds anyway, for every kind of write', async () => {
    await prepare('GCP', [opt.machineSets()]);
    await cluster.setSecret(places.machineApi, 'mine', machineApiStub({ ...installer3(), ...additions }));
    await addMachineSet('a', { ...gcpSpec, userDataSecret: { name: 'mine' } });
    const turns = new Map<string, number>();
    const running = await run({
      async beforeRequest({ method, path }) {
        const turn = (turns.get(path) ?? 0) + 1;
        if (method !== 'PATCH' || path.includes('/events/') || turn > 2) return;
        turns.set(path, turn);
        await cluster.client.transport.json({
          method,
          path: path.replace(/\/status$/, ''),
          contentType: 'application/merge-patch+json',
          body: { metadata: { labels: { turn: `${path.endsWith('status') ? 'status' : 'whole'}-${turn}` } } },
          retry: 'never',
          what: 'be faster',
        });
      },
    });
    await untilVerdict(running, 'a', { verdict: 'current', stub: { current: 'mine-slipway', wanted: 'mine-slipway' } });
    await until(async () => {
      expect((await cluster.configuration()).status?.conditions).toContainEqual(
        expect.objectContaining({ message: expect.stringContaining('Reconciled 1 of 1 MAPI') as string }),
      );
      const history = await cluster.client.find(bootImageHistories, place('a-mapi-machineset'));
      expect(history?.status?.details).toMatchObject([{ bootImageVersion: rhel9.version }]);
    });
    const writes = (await running.writes()).map(({ verb, resource, code }) => `${verb} ${resource} ${code}`);
    for (const what of ['configmaps', 'machinesets', 'machineconfigurations/status', 'bootimagehistories/status']) {
      expect(writes).toContain(`patch ${what} 409`);
      expect(writes).toContain(`patch ${what} 200`);
    }
    expect(await stamp()).toEqual(['1.2.3', '4.22.0']);
  });

  it('after a kill between clone and patch is completed by the next process, with the same clone', async () => {
    await prepare('AWS', everything);
    const templates = toTemplateResource('GCPMachineTemplate', 'v1beta1');
    const spec = { template: { spec: { instanceType: 'n2', image: gcpImage(olderStream.version) } } };
    await cluster.client.create(templates, { metadata: { namespace: places.clusterApi, name: 'template' }, spec });
    const reference = {
      kind: 'GCPMachineTemplate',
      apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta1',
      name: 'template',
    };
    await cluster.client.create(clusterApiMachineSets, buildClusterApiSet('b', reference));
    const listTemplateNames = async () =>
      (await Array.fromAsync(cluster.client.list(templates, { namespace: places.clusterApi }))).map(
        ({ metadata }) => metadata.name,
      );
    const killed = await run({ killAtWrite: 'patch MachineSet openshift-cluster-api/b' });
    await until(async () => expect(await listTemplateNames()).toHaveLength(2));
    await killed.stop();
    expect((await clusterApiSet('b')).spec?.template?.spec?.infrastructureRef.name).toBe('template');
    const clones = await listTemplateNames();
    const running = await run();
    await untilVerdict(running, 'b', { verdict: 'current' });
    expect(await listTemplateNames()).toEqual(clones);
    expect(clones).toContain((await clusterApiSet('b')).spec?.template?.spec?.infrastructureRef.name);
    expect(await machineSetWrites(running)).toEqual(['patch 200']);
    await until(async () => {
      const history = await cluster.client.find(bootImageHistories, {
        namespace: places.clusterApi,
        name: 'b-capi-machineset',
      });
      expect(history?.status?.details).toMatchObject([{ bootImageVersion: rhel9.version, configMapGeneration: 1 }]);
    });
  });
});
