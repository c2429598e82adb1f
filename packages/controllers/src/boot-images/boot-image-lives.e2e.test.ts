// Boot images over time: who does not get them, who reverts them, canaries, and garbage. Writes are read from the audit
// log of the real kube-apiserver.
import {
  bootImageHistories,
  clusterApiMachineSets,
  clusterOperators,
  configMaps,
  machineConfigurations,
  machineSets,
  secrets,
} from '@slipway/api';
import { GRACE_MS, type JsonObject, toTemplateResource } from '@slipway/fleet/boot-images';
import {
  additions,
  bootImagesData,
  gcpSpec,
  installer3,
  managedStub,
  olderStream,
  OLD_TOKEN,
  rhel9,
} from '@slipway/fleet/boot-images/testing';
import { KubeError } from '@slipway/kube';
import { startGitOps } from '@slipway/testing/stand-in-gitops';
import { until } from '@slipway/testing/wait';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { selectTimeout } from './canary.ts';
import { UNUSED_MS } from './garbage-collection.ts';
import { places, type Running } from './testing/boot-images-cluster.ts';
import { expectImageInGitWins, expectOmittedImageIsOurs, fileOf } from './testing/gitops.ts';
import {
  addMachineSet,
  cluster,
  clusterApiSet,
  buildClusterApiSet,
  gcpImage,
  readGcpImage,
  machineApiStub,
  machineSet,
  opt,
  prepare,
  providerSpecOf,
  run,
  setWrites,
  untilVerdict,
  useBootImagesCluster,
} from './testing/boot-images-fixture.ts';

useBootImagesCluster();

const place = (name: string) => ({ namespace: places.machineApi, name });
const change = (name: string, body: object) =>
  cluster.client.patch(machineSets, place(name), { type: 'merge', body }, {});
const withValue = (value: object) => ({ spec: { template: { spec: { providerSpec: { value } } } } });

const owner = (kind: string, group = 'hive.openshift.io') => ({
  apiVersion: `${group}/v1beta1`,
  kind,
  name: 'pool-a',
  uid: '1',
});

describe('a resource keeps its image if it', () => {
  it('has an owner, is held, paused, runs Windows, belongs to the other API or is migrating', async () => {
    await prepare('GCP', [opt.machineSets()]);
    await addMachineSet('owned', gcpSpec, { owner: owner('MachinePool') });
    await addMachineSet('held', gcpSpec, { annotations: { 'slipway.dev/boot-image-hold': olderStream.version } });
    await addMachineSet('paused', gcpSpec, { annotations: { 'cluster.x-k8s.io/paused': '' } });
    await addMachineSet('windows', gcpSpec, { machineLabels: { 'machine.openshift.io/os-id': 'Windows' } });
    for (const [name, authoritativeAPI] of Object.entries({ elsewhere: 'ClusterAPI', moving: 'Migrating' })) {
      await addMachineSet(name, gcpSpec);
      const patch = { type: 'merge', body: { status: { authoritativeAPI } } } as const;
      await cluster.client.patch(machineSets, place(name), patch, {}, { subresource: 'status' });
    }
    await addMachineSet('plain', gcpSpec);
    const running = await run();
    await untilVerdict(running, 'plain', { verdict: 'current' });
    for (const name of ['owned', 'held', 'paused', 'windows', 'elsewhere', 'moving'])
      await untilVerdict(running, name, { verdict: 'skipped', code: null });
    expect(running.verdict('owned')?.why).toContain('MachinePool pool-a');
    expect(await setWrites(running)).toEqual(['patch plain 200']);
  });

  it('is opted out, or no longer matches the selector', async () => {
    const partial = (tier: string) =>
      opt.machineSets({ mode: 'Partial', partial: { machineResourceSelector: { matchLabels: { tier } } } });
    await prepare('GCP', [opt.machineSets({ mode: 'None' })]);
    await addMachineSet('a', gcpSpec, { labels: { tier: 'a' } });
    await addMachineSet('b', gcpSpec, { labels: { tier: 'b' } });
    const running = await run();
    for (const name of ['a', 'b']) await untilVerdict(running, name, { verdict: 'skipped' });
    await cluster.optIn([partial('a')]);
    await untilVerdict(running, 'a', { verdict: 'current' });
    expect(await setWrites(running)).toEqual(['patch a 200']);
    await cluster.optIn([partial('b')]);
    await untilVerdict(running, 'b', { verdict: 'current' });
    await untilVerdict(running, 'a', { verdict: 'skipped', image: gcpImage(rhel9.version) });
    expect(await setWrites(running)).toEqual(['patch a 200', 'patch b 200']);
    // An opted-out resource keeps its image, whatever changes.
    await cluster.optIn([opt.machineSets({ mode: 'None' })]);
    await untilVerdict(running, 'b', { verdict: 'skipped' });
    await cluster.setGolden(bootImagesData({ 'rhel-9': { ...rhel9, version: '9.9.20270101-0' } }, '4.23.0'));
    await until(() => expect(running.verdict('a')?.target).toBe(gcpImage('9.9.20270101-0')));
    expect(await setWrites(running)).toEqual(['patch a 200', 'patch b 200']);
  });
});

describe('another client that reverts the image', () => {
  it('wins after the third time, and is named, until the opt-in changes', async () => {
    await prepare('GCP', [opt.machineSets()]);
    await addMachineSet('a', gcpSpec);
    const running = await run();
    const old = withValue({ disks: gcpSpec['disks'], userDataSecret: gcpSpec['userDataSecret'] });
    // As a GitOps tool does.
    for (let turn = 0; turn < 3; turn += 1) {
      await until(async () => expect(readGcpImage(await machineSet('a'))).toBe(gcpImage(rhel9.version)));
      await change('a', old);
    }
    await untilVerdict(running, 'a', { verdict: 'failed', code: 'SLW_BOOT_IMAGES_HOT_LOOP' });
    await change('a', { metadata: { labels: { touched: 'true' } } });
    await until(async () => expect(await running.looks('boot-images-machine-sets')).toBeGreaterThan(4));
    expect(await setWrites(running)).toEqual(Array.from({ length: 3 }, () => 'patch a 200'));
    expect(readGcpImage(await machineSet('a'))).toBe(gcpImage(olderStream.version));
    await running.stop();
    // A restart does not reset the count; a new decision of a user does.
    const next = await run();
    await untilVerdict(next, 'a', { verdict: 'failed', code: 'SLW_BOOT_IMAGES_HOT_LOOP' });
    expect(await setWrites(next)).toEqual([]);
    await cluster.optIn([opt.machineSets()], { logLevel: 'Debug' });
    await untilVerdict(next, 'a', { verdict: 'current' });
  });

  it('wins in the same way if it replaces the whole object, with our annotations', async () => {
    await prepare('GCP', [opt.machineSets()]);
    const { metadata, spec } = await addMachineSet('a', gcpSpec);
    const { name, namespace, labels } = metadata;
    const running = await run();
    for (let turn = 0; turn < 3; turn += 1) {
      await until(async () => expect(readGcpImage(await machineSet('a'))).toBe(gcpImage(rhel9.version)));
      const { annotations, resourceVersion } = (await machineSet('a')).metadata;
      expect(annotations).toHaveProperty(['slipway.dev/boot-image']);
      const removed = Object.fromEntries(Object.keys(annotations ?? {}).map((key) => [key, null]));
      await change('a', { metadata: { name, namespace, labels, resourceVersion, annotations: removed }, spec });
    }
    await untilVerdict(running, 'a', { verdict: 'failed', code: 'SLW_BOOT_IMAGES_HOT_LOOP' });
    expect(await setWrites(running)).toEqual(Array.from({ length: 3 }, () => 'patch a 200'));
    // The memory is in the history: without it, the update is tried again.
    const history = { namespace: places.machineApi, name: 'a-mapi-machineset' };
    const forgotten = { metadata: { annotations: { 'slipway.dev/boot-image': null } } };
    await cluster.client.patch(bootImageHistories, history, { type: 'merge', body: forgotten }, {});
    await untilVerdict(running, 'a', { verdict: 'current' });
  });
});

describe('a GitOps tool that applies a MachineSet again and again', () => {
  it('without its image and user data gets the new ones with one write', () => expectOmittedImageIsOurs(50));

  it('with its image wins, and is reported after three writes', () => expectImageInGitWins(50));

  it('with a list that contains the image wins too, even if it leaves the image out', async () => {
    await prepare('GCP', [opt.machineSets()]);
    const set = await addMachineSet('a', gcpSpec);
    const file = fileOf(set, ['userDataSecret']);
    const [disk] = (gcpSpec['disks'] ?? []) as JsonObject[];
    const { image: _, ...rest } = disk ?? {};
    Reflect.set(providerSpecOf(file.manifest) ?? {}, 'disks', [rest]);
    const running = await run();
    await untilVerdict(running, 'a', { verdict: 'current' });
    const gitOps = await startGitOps(cluster.client, [file], 50);
    await untilVerdict(running, 'a', { verdict: 'failed' });
    await gitOps.stop();
    expect((await setWrites(running)).filter((write) => write === 'patch a 200').length).toBeLessThanOrEqual(3);
  });
});

describe('a customised stub', () => {
  it('is merged into a copy that follows the managed stub, and the original stays unchanged', async () => {
    await prepare('GCP', [opt.machineSets()]);
    const custom = machineApiStub({ ...installer3(), ...additions });
    await cluster.setSecret(places.machineApi, 'my-user-data', custom);
    const mine: JsonObject = { ...gcpSpec, userDataSecret: { name: 'my-user-data' } };
    await Promise.all(['a', 'b', 'c'].map((name) => addMachineSet(name, mine)));
    const running = await run();
    for (const name of ['a', 'b', 'c'])
      await untilVerdict(running, name, {
        verdict: 'current',
        stub: { current: 'my-user-data-slipway', wanted: 'my-user-data-slipway' },
      });
    const copy = async () => {
      const { data } = await cluster.client.get(secrets, place('my-user-data-slipway'));
      return Buffer.from(data?.['userData'] ?? '', 'base64').toString();
    };
    expect(await copy()).toContain('/etc/motd');
    await cluster.setSecret(
      places.machineApi,
      'worker-user-data-managed',
      machineApiStub(managedStub('worker', undefined, OLD_TOKEN)),
    );
    await until(async () => expect(await copy()).toContain(OLD_TOKEN));
    expect(await copy()).toContain('/etc/motd');
    const { data } = await cluster.client.get(secrets, place('my-user-data'));
    expect(Buffer.from(data?.['userData'] ?? '', 'base64').toString()).toBe(custom.userData);
    expect((await setWrites(running)).toSorted()).toEqual(['patch a 200', 'patch b 200', 'patch c 200']);
  });
});

const condition = async (type: string) =>
  (await cluster.configuration()).status?.conditions?.find((each) => each.type === type);

/** Changes only the time of day: timers still wait in real time. */
const later = (ms: number): void => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ms });
};

describe('over time', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  const canary = (of = 'a') => cluster.client.find(machineSets, place(`${of}-canary`));
  const setReady = (readyReplicas: number, of = 'a') =>
    cluster.client.patch(
      machineSets,
      place(`${of}-canary`),
      { type: 'merge', body: { status: { readyReplicas } } },
      {},
      { subresource: 'status' },
    );

  /** The writes that changed something: a canary may be deleted again while the cache still has it. */
  const landedWrites = async (running: Running) =>
    (await setWrites(running)).filter((write) => !write.endsWith(' 404'));

  it('with a canary, one machine must become Ready before a set gets the image, and sets take turns by name', async () => {
    await prepare('GCP', [opt.machineSets()]);
    for (const name of ['c', 'b', 'a'])
      await addMachineSet(name, gcpSpec, {
        annotations: { 'machine.openshift.io/cluster-api-autoscaler-node-group-max-size': '9' },
        labels: { 'argocd.argoproj.io/instance': 'machines' },
      });
    const running = await run({ canary: true });
    for (const name of ['a', 'b', 'c']) {
      await until(async () => expect(await canary(name)).toBeDefined());
      const made = await canary(name);
      expect(made === undefined ? undefined : readGcpImage(made)).toBe(gcpImage(rhel9.version));
      expect(made?.spec?.replicas).toBe(1);
      expect(made?.metadata.annotations).not.toHaveProperty([
        'machine.openshift.io/cluster-api-autoscaler-node-group-max-size',
      ]);
      expect(Object.keys(made?.metadata.labels ?? {}).toSorted()).toEqual([
        'machine.openshift.io/cluster-api-cluster',
        'slipway.dev/boot-image-canary',
      ]);
      expect(readGcpImage(await machineSet(name))).toBe(gcpImage(olderStream.version));
      await setReady(1, name);
      await untilVerdict(running, name, { verdict: 'current' });
    }
    await until(async () => expect(await canary('c')).toBeUndefined());
    expect(await landedWrites(running)).toEqual(
      ['a', 'b', 'c'].flatMap((name) => [
        `create ${name}-canary 201`,
        `patch ${name} 200`,
        `delete ${name}-canary 200`,
      ]),
    );
  });

  it('if the canary does not become Ready, the set keeps its image, the image is not tried again, and the next set has its turn', async () => {
    await prepare('GCP', [opt.machineSets()]);
    for (const name of ['a', 'b']) await addMachineSet(name, gcpSpec);
    const running = await run({ canary: true, lease: null });
    await until(async () => expect(await canary()).toBeDefined());
    later(selectTimeout('gcp') + 60_000);
    await change('a', { metadata: { labels: { looked: 'at' } } });
    await untilVerdict(running, 'a', { verdict: 'failed', code: 'SLW_BOOT_IMAGES_CANARY' });
    await until(async () => expect(await canary()).toBeUndefined());
    // For the set that is next, the time limit is over as soon as it starts: only our clock is ahead.
    await untilVerdict(running, 'b', { verdict: 'failed', code: 'SLW_BOOT_IMAGES_CANARY' });
    await until(async () => expect(await canary('b')).toBeUndefined());
    expect((await landedWrites(running)).filter((write) => write.includes('canary'))).toEqual(
      ['a', 'b'].flatMap((name) => [`create ${name}-canary 201`, `delete ${name}-canary 200`]),
    );
    await running.stop();
    const next = await run({ canary: true, lease: null });
    await untilVerdict(next, 'a', { verdict: 'failed', code: 'SLW_BOOT_IMAGES_CANARY' });
    expect(await setWrites(next)).toEqual([]);
    expect(readGcpImage(await machineSet('a'))).toBe(gcpImage(olderStream.version));
  });

  it('two sets do not create canaries together, also while the first tries again after a failed creation', async () => {
    await prepare('GCP', [opt.machineSets()]);
    for (const name of ['a', 'b']) await addMachineSet(name, gcpSpec);
    const held = Promise.withResolvers<void>();
    let creations = 0;
    const running = await run({
      canary: true,
      async beforeRequest({ method, path }) {
        if (method !== 'POST' || !/\/machinesets(?:\?|$)/.test(path)) return;
        creations += 1;
        if (creations === 1) throw new KubeError('SLW_KUBE_FORBIDDEN', 'exceeded quota', { status: 403 });
        if (creations === 2) await held.promise;
      },
    });
    await until(() => expect(creations).toBe(2));
    await untilVerdict(running, 'a', { verdict: 'update' });
    expect(creations).toBe(2);
    held.resolve();
    for (const name of ['b', 'a']) {
      await until(async () => expect(await canary(name)).toBeDefined());
      await setReady(1, name);
      await untilVerdict(running, name, { verdict: 'current' });
    }
    expect((await landedWrites(running)).filter((write) => !write.startsWith('patch')).slice(0, 3)).toEqual([
      'create b-canary 201',
      'delete b-canary 200',
      'create a-canary 201',
    ]);
  });

  it('if another client deletes a canary, the next set has its turn', async () => {
    await prepare('GCP', [opt.machineSets()]);
    for (const name of ['a', 'b']) await addMachineSet(name, gcpSpec);
    await run({ canary: true });
    for (const name of ['a', 'b', 'a']) {
      await until(async () => expect(await canary(name)).toBeDefined());
      await cluster.client.delete(machineSets, place(`${name}-canary`), {});
    }
  });

  it('a canary is deleted when the feature gate is turned off, or is found off at the start', async () => {
    await prepare('GCP', [opt.machineSets()]);
    await addMachineSet('a', gcpSpec);
    const running = await run({ canary: true });
    await until(async () => expect(await canary()).toBeDefined());
    running.turn(false);
    await until(async () => expect(await canary()).toBeUndefined());
    running.turn(true);
    await until(async () => expect(await canary()).toBeDefined());
    await running.stop();
    const next = await run({ canary: true, gate: false });
    await until(async () => expect(await canary()).toBeUndefined());
    expect(await landedWrites(next)).toEqual(['delete a-canary 200']);
    expect(readGcpImage(await machineSet('a'))).toBe(gcpImage(olderStream.version));
  });

  it('deletes templates that Slipway created once they are unused, and no others', async () => {
    const templates = toTemplateResource('GCPMachineTemplate', 'v1beta1');
    const template = (name: string) => ({
      metadata: { namespace: places.clusterApi, name },
      spec: { template: { spec: { instanceType: 'n2', image: gcpImage(olderStream.version) } } },
    });
    const reference = {
      kind: templates.kind,
      apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta1',
      name: 'installed',
    };
    await prepare('GCP', [opt.clusterApiMachineSets()]);
    await cluster.client.create(templates, template('installed'));
    await cluster.client.create(clusterApiMachineSets, buildClusterApiSet('a', reference));
    const namesNow = async () =>
      (await Array.fromAsync(cluster.client.list(templates, { namespace: places.clusterApi }))).map(
        ({ metadata }) => metadata.name,
      );
    const first = await run({ lease: null });
    await untilVerdict(first, 'a', { verdict: 'current' });
    const clone = (await clusterApiSet('a')).spec?.template?.spec?.infrastructureRef.name ?? '';
    // An old revision still references the first clone.
    const revision = { ...reference, name: clone };
    await cluster.client.create(
      clusterApiMachineSets,
      buildClusterApiSet('revision', revision, { owner: owner('MachineDeployment', 'cluster.x-k8s.io') }),
    );
    await cluster.setGolden(bootImagesData({ 'rhel-9': { ...rhel9, version: '9.9.20270101-0' } }, '4.23.0'));
    await until(async () => expect(await namesNow()).toHaveLength(3));
    await untilVerdict(first, 'a', { verdict: 'current', image: gcpImage('9.9.20270101-0') });
    await first.stop();
    later(GRACE_MS + 60_000);
    const second = await run({ lease: null });
    await until(async () => expect(await second.looks('boot-images-templates')).toBeGreaterThan(0));
    expect(await namesNow()).toHaveLength(3);
    // By another process: one process checks a kind of templates at most once a minute.
    await second.stop();
    later(2 * GRACE_MS);
    await cluster.client.delete(clusterApiMachineSets, { namespace: places.clusterApi, name: 'revision' }, {});
    await run({ lease: null });
    await until(async () => expect(await namesNow()).not.toContain(clone));
    const now = (await clusterApiSet('a')).spec?.template?.spec?.infrastructureRef.name ?? '';
    expect(new Set(await namesNow())).toEqual(new Set(['installed', now]));
  });

  it('deletes copies of customised stubs once they are unused, and no other Secret', async () => {
    await prepare('GCP', [opt.machineSets()]);
    const custom = machineApiStub({ ...installer3(), ...additions });
    for (const name of ['mine', 'held', 'own-slipway']) await cluster.setSecret(places.machineApi, name, custom);
    for (const name of ['mine', 'held']) await addMachineSet(`of-${name}`, { ...gcpSpec, userDataSecret: { name } });
    const running = await run({ lease: null });
    for (const name of ['mine', 'held'])
      await untilVerdict(running, `of-${name}`, {
        verdict: 'current',
        stub: { current: `${name}-slipway`, wanted: `${name}-slipway` },
      });
    const mark = (name: string, body: object) =>
      cluster.client.patch(secrets, place(name), { type: 'merge', body: { metadata: body } }, {});
    await mark('held-slipway', { finalizers: ['example.com/mine'] });
    for (const name of ['mine', 'held'])
      await change(`of-${name}`, withValue({ userDataSecret: { name: 'worker-user-data-managed' } }));
    await until(async () => {
      later(UNUSED_MS + 1000);
      const stamp = { annotations: { looked: String(Date.now()) } };
      await mark('own-slipway', stamp);
      if ((await cluster.client.find(secrets, place('mine-slipway'))) !== undefined) await mark('mine-slipway', stamp);
      expect(await cluster.client.find(secrets, place('mine-slipway'))).toBeUndefined();
    });
    // One run to see that it is unused, and one when its time is over.
    for (let turn = 0; turn < 2; turn += 1) {
      const before = await running.looks('boot-images-stub-copies');
      later(UNUSED_MS + 1000);
      await mark('held-slipway', { annotations: { turn: String(turn) } });
      await until(async () => expect(await running.looks('boot-images-stub-copies')).toBeGreaterThan(before));
    }
    const left = (await Array.fromAsync(cluster.client.list(secrets, { namespace: places.machineApi })))
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map(({ metadata }) => metadata.name);
    expect(left).toEqual(expect.arrayContaining(['mine', 'held', 'held-slipway', 'own-slipway']));
    await mark('held-slipway', { finalizers: null });
  });

  it('reports a stamp that is missing for an hour', async () => {
    await prepare('GCP', [opt.machineSets()]);
    await cluster.setPool('master', 'rendered-master-2', '', 0);
    await addMachineSet('a', gcpSpec);
    const running = await run({ lease: null });
    await untilVerdict(running, 'a', { verdict: 'skipped', code: 'SLW_BOOT_IMAGES_VERSION' });
    await until(() =>
      expect(running.verdict('a')?.why).toContain('waiting for the first machine of MachineConfigPool master'),
    );
    later(61 * 60_000);
    await change('a', { metadata: { labels: { looked: 'at' } } });
    await untilVerdict(running, 'a', {
      verdict: 'failed',
      code: 'SLW_BOOT_IMAGES_VERSION',
      why: expect.stringMatching(/rendered-master-2\. This has taken more than 60 minutes/) as string,
    });
    await cluster.setPool('master', 'rendered-master-2', '', 1);
    await untilVerdict(running, 'a', { verdict: 'current' });
  });

  it('reports a failure after three times in five minutes, also across a restart, and clears it after a success', async () => {
    await prepare('GCP', [opt.machineSets()]);
    await addMachineSet('bad', { ...gcpSpec, kind: 'ToasterProviderSpec' });
    const counted = async () => {
      const { annotations } = (await cluster.configuration()).metadata;
      return Object.values(JSON.parse(annotations?.['slipway.dev/boot-image-failures'] ?? '{}') as object) as object[];
    };
    const first = await run({ lease: null });
    await until(async () => expect(await counted()).toMatchObject([{ count: 1, code: 'SLW_BOOT_IMAGES_SPEC' }]));
    later(61_000);
    await cluster.optIn([opt.machineSets()], { logLevel: 'Debug' });
    await until(async () => expect(await counted()).toMatchObject([{ count: 2 }]));
    await first.stop();
    later(60_000);
    const second = await run({ lease: null });
    await until(async () => expect(await counted()).toMatchObject([{ count: 3 }]));
    expect(await condition('BootImageUpdateDegraded')).toMatchObject({ status: 'False' });
    later(200_000);
    await cluster.optIn([opt.machineSets()], { logLevel: 'Normal' });
    await until(async () =>
      expect(await condition('BootImageUpdateDegraded')).toMatchObject({
        status: 'True',
        reason: 'BootImageUpdateFailed',
        message: expect.stringMatching(
          /1 Degraded MAPI MachineSets.*openshift-machine-api\/bad: .*\[SLW_BOOT_IMAGES_SPEC\]/,
        ) as string,
      }),
    );
    later(2000);
    await change('bad', withValue({ kind: gcpSpec['kind'] }));
    await untilVerdict(second, 'bad', { verdict: 'current' });
    await until(async () => {
      later(2000);
      expect(await condition('BootImageUpdateDegraded')).toMatchObject({ status: 'False' });
    });
    expect(await counted()).toEqual([]);
  });
});

describe('the report on all resources', () => {
  const upgradeable = async () =>
    (await cluster.client.find(clusterOperators, { name: 'machine-config' }))?.status?.conditions?.find(
      ({ type }) => type === 'Upgradeable',
    );

  it('counts and names them, blocks upgrades for images of unknown age, and disappears with the gate', async () => {
    await prepare('GCP', [opt.machineSets(), opt.clusterApiMachineSets()]);
    const theirs = withValue({ disks: [{ boot: true, image: 'projects/mine/global/images/golden' }] });
    await addMachineSet('mine', { ...gcpSpec, ...(theirs.spec.template.spec.providerSpec.value as JsonObject) });
    await addMachineSet('plain', gcpSpec);
    const running = await run();
    await until(async () => {
      expect(await condition('BootImageUpdateProgressing')).toMatchObject({
        status: 'False',
        message: expect.stringContaining('Reconciled 1 of 2 MAPI MachineSets (1 skipped)') as string,
      });
      expect(await condition('BootImageUpdateDegraded')).toMatchObject({ status: 'False' });
      expect((await cluster.configuration()).status?.bootImageSkewEnforcementStatus).toMatchObject({
        mode: 'Automatic',
        automatic: { ocpVersion: '0.0.0' },
      });
      expect(await upgradeable()).toMatchObject({
        status: 'False',
        reason: 'BootImageSkew',
        message: expect.stringContaining('openshift-machine-api/mine') as string,
      });
    });
    expect((await cluster.configuration()).status?.managedBootImagesStatus).toEqual({
      machineManagers: [opt.machineSets(), opt.clusterApiMachineSets()],
    });
    // No controller would record the age any longer: the API first requires another mode than Automatic.
    await expect(cluster.optIn([opt.machineSets({ mode: 'None' })])).rejects.toThrow(/mode Automatic/);
    // With mode None, the user is responsible.
    await cluster.client.patch(
      machineConfigurations,
      { name: 'cluster' },
      { type: 'merge', body: { spec: { bootImageSkewEnforcement: { mode: 'None' } } } },
      {},
    );
    await until(async () => expect(await upgradeable()).toMatchObject({ status: 'True', reason: 'AsExpected' }));
    await cluster.optIn([opt.machineSets({ mode: 'None' })]);
    await until(async () =>
      expect((await cluster.configuration()).status).not.toHaveProperty('managedBootImagesStatus'),
    );
    running.turn(false);
    await until(async () => {
      expect(await condition('BootImageUpdateProgressing')).toBeUndefined();
      expect((await cluster.configuration()).status?.bootImageSkewEnforcementStatus).toBeUndefined();
    });
  });

  it('the history records each change once, with the previous image, also if the ConfigMap is recreated', async () => {
    await prepare('GCP', [opt.machineSets()]);
    await addMachineSet('a', gcpSpec);
    const running = await run();
    const history = () => cluster.client.find(bootImageHistories, place('a-mapi-machineset'));
    await until(async () =>
      expect((await history())?.status?.details).toMatchObject([
        { bootImageVersion: rhel9.version, configMapGeneration: 1 },
      ]),
    );
    await cluster.setGolden(bootImagesData({ 'rhel-9': { ...rhel9, version: '9.9.20270101-0' } }, '4.23.0'));
    await until(async () =>
      expect((await history())?.status?.details).toMatchObject([
        { bootImageVersion: rhel9.version, configMapGeneration: 1 },
        { bootImageVersion: '9.9.20270101-0', configMapGeneration: 2 },
      ]),
    );
    const kept = JSON.parse((await history())?.metadata.annotations?.['slipway.dev/boot-images'] ?? '[]') as {
      image: string;
    }[];
    expect(kept.map(({ image }) => image)).toEqual(
      [olderStream.version, rhel9.version, '9.9.20270101-0'].map((version) => gcpImage(version)),
    );
    expect(await setWrites(running)).toEqual(['patch a 200', 'patch a 200']);
    // By a client that does not know our annotations.
    const golden = { namespace: places.ours, name: 'coreos-bootimages' };
    const known = async () =>
      (await cluster.client.find(configMaps, golden))?.metadata.annotations?.['slipway.dev/boot-images-known'] ?? '';
    const before = await known();
    expect(before.split(',').length).toBeGreaterThan(2);
    await cluster.setGolden(null);
    await cluster.setGolden(bootImagesData({ 'rhel-9': { ...rhel9, version: '9.9.20270202-0' } }, '4.23.1'));
    await until(async () =>
      expect((await history())?.status?.details?.at(-1)).toMatchObject({
        bootImageVersion: '9.9.20270202-0',
        configMapGeneration: 3,
      }),
    );
    expect((await known()).startsWith(before)).toBe(true);
  });

  it('does not wait for Cluster API if it is not installed', async () => {
    await prepare('GCP', [opt.machineSets()]);
    await addMachineSet('a', gcpSpec);
    await cluster.withClusterApi([], async () => {
      const running = await run();
      await untilVerdict(running, 'a', { verdict: 'current' });
      await until(async () =>
        expect(await condition('BootImageUpdateProgressing')).toMatchObject({
          status: 'False',
          message: expect.stringContaining('Reconciled 1 of 1 MAPI MachineSets') as string,
        }),
      );
    });
  });
});
