// `slipway bootimages` on a real control plane with real controllers. No machines are created: only the image that they would
// boot matters.
import {
  clusterApiMachineSets,
  configMaps,
  buildCrd,
  gcpMachineTemplateKind,
  gcpMachineTemplates,
  infrastructures,
  machineConfigurations,
  machineDeployments,
  machineSets,
  namespaces,
  secrets,
} from '@slipway/api';
import { runInProcess } from '@slipway/slipway/testing/in-process';
import { readSettledAuditLog } from '@slipway/testing/audit';
import { clusterRoleBindings, clusterRoles, installCrd } from '@slipway/testing/resources';
import { until } from '@slipway/testing/wait';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  CLUSTER_API,
  fromTemplate,
  gcpMachines,
  formatImage,
  installersStub,
  MINE,
  NAMESPACE,
  SERVER,
  stream,
  formatVersion,
} from './bootimages/machines.ts';
import { type Fleet, NAMESPACE as ours, startFleet } from './render/fleet.ts';

const viewer = { user: 'looks-only', groups: ['system:masters'], name: 'looks-only' };

let fleet: Fleet;
/** Kubeconfig of a user whose requests are counted. */
let viewerKubeconfig: string;
/** The machine spec of `worker-fresh` before the opt-in, as the API server returns it. */
let firstSpec: string;

const setRelease = (build: number): Promise<unknown> =>
  fleet.admin.apply(
    configMaps,
    {
      metadata: { namespace: ours, name: 'coreos-bootimages' },
      data: { releaseVersion: `4.22.${build}`, stream: stream(build) },
    },
    {},
    { fieldManager: 'the-release', force: true },
  );

/** A MachineSet and a MachineDeployment with a template, and a MachineSet whose template is missing. */
async function addClusterApiMachines(): Promise<void> {
  await installCrd(fleet.admin, buildCrd(gcpMachineTemplateKind));
  await fleet.admin.create(gcpMachineTemplates, {
    metadata: { namespace: CLUSTER_API, name: 'template' },
    spec: { template: { spec: { instanceType: 'n2', image: formatImage(1) } } },
  });
  await fleet.admin.create(clusterApiMachineSets, fromTemplate('capi-a', 'template'));
  await fleet.admin.create(clusterApiMachineSets, fromTemplate('capi-lost', 'nowhere'));
  await fleet.admin.create(machineDeployments, fromTemplate('capi-md', 'template'));
}

interface Report {
  gate: null;
  optedIn: object[];
  configMap: { state: string; releaseVersion: string | null };
  resources: {
    resource: { name: string };
    verdict: string;
    image: string;
    target: string;
    why: string;
    code: string;
  }[];
}

/** As the installer of release 2 makes it, with the image and the user data of that release. */
const fresh = gcpMachines('worker-fresh', formatImage(2), { userDataSecret: { name: 'worker-user-data-managed' } });

const bootimages = (...args: string[]) =>
  runInProcess('bootimages', ...args, '--kubeconfig', fleet.controlPlane.kubeconfig);

async function report(): Promise<Report> {
  const { code, out, err } = await runInProcess('bootimages', '-o', 'json', '--kubeconfig', viewerKubeconfig);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return JSON.parse(out) as Report;
}

const entry = async (name: string) => (await report()).resources.find(({ resource }) => resource.name === name);

const untilEntry = (name: string, facts: object): Promise<void> =>
  until(async () => expect(await entry(name)).toMatchObject(facts));

const machines = (name: string) => fleet.admin.get(machineSets, { namespace: NAMESPACE, name });
const providerSpec = async (name: string) => (await machines(name)).spec?.template?.spec?.providerSpec?.value;

beforeAll(async () => {
  fleet = await startFleet();
  viewerKubeconfig = await fleet.controlPlane.kubeconfigFor(viewer);
  for (const name of [NAMESPACE, CLUSTER_API]) await fleet.admin.create(namespaces, { metadata: { name } });
  await fleet.admin.create(infrastructures, { metadata: { name: 'cluster' }, spec: {} });
  await fleet.admin.patch(
    infrastructures,
    { name: 'cluster' },
    { type: 'merge', body: { status: { infrastructureName: 'demo', platformStatus: { type: 'GCP' } } } },
    {},
    { subresource: 'status' },
  );
  await fleet.admin.create(secrets, {
    metadata: { namespace: NAMESPACE, name: 'worker-user-data' },
    data: { userData: Buffer.from(installersStub).toString('base64') },
  });
  await fleet.admin.create(secrets, {
    metadata: { namespace: CLUSTER_API, name: 'worker-user-data' },
    data: {
      value: Buffer.from(installersStub).toString('base64'),
      format: Buffer.from('ignition').toString('base64'),
    },
  });
  await addClusterApiMachines();
  await fleet.admin.create(machineSets, gcpMachines('worker-a', formatImage(1)));
  await fleet.admin.create(machineSets, gcpMachines('worker-b', formatImage(1)));
  await fleet.admin.create(machineSets, fresh);
  firstSpec = JSON.stringify(await providerSpec('worker-fresh'));
  await fleet.admin.create(machineSets, gcpMachines('worker-mine', MINE));
  await fleet.admin.create(machineSets, gcpMachines('worker-old', 'demo-rhcos-image'));
  await fleet.admin.create(machineSets, gcpMachines('worker-odd', formatImage(1), { kind: 'SomethingElse' }));
}, 120_000);

afterAll(async () => fleet?.stop(), 60_000);

describe('slipway bootimages before an opt-in', () => {
  it('reports that nothing is opted in, and that there are no boot images', async () => {
    const { code, out } = await bootimages();
    expect(code).toBe(0);
    expect(out).toMatch(/openshift-machine-api\/worker-a \(mapi\) +gcp .* skipped +not opted in/);
    expect(out).toContain('--feature-gates ManagedBootImages=true');
    expect(out).toContain('Nothing is opted in. To opt in, set spec.managedBootImages.machineManagers');
    expect(out).toContain('[SLW_BOOT_IMAGES_MISSING]');
  });

  it('shows what each would get, and writes nothing', async () => {
    await setRelease(2);
    const found = await report();
    expect(found).toMatchObject({ gate: null, optedIn: [], configMap: { releaseVersion: '4.22.2' } });
    expect(found.resources).toMatchObject([
      { resource: { name: 'worker-a' }, verdict: 'skipped', image: formatImage(1), target: formatImage(2) },
      { resource: { name: 'worker-b' } },
      { resource: { name: 'worker-fresh' }, image: formatImage(2), target: formatImage(2) },
      { resource: { name: 'worker-mine' }, image: MINE, target: '' },
      { resource: { name: 'worker-odd' }, image: '', target: '' },
      { resource: { name: 'worker-old' }, image: 'demo-rhcos-image', target: '', isUnknown: true },
      { resource: { name: 'capi-a', api: 'cluster.x-k8s.io' }, image: formatImage(1), target: formatImage(2) },
      { resource: { name: 'capi-lost' }, image: '', target: '' },
      { resource: { name: 'capi-md', kind: 'MachineDeployment' }, image: formatImage(1), target: formatImage(2) },
    ]);
    const requests = await readSettledAuditLog(fleet.controlPlane.auditLog, viewer.user);
    expect(new Set(requests.map(({ verb }) => verb))).toEqual(new Set(['get', 'list']));
  });

  it('shows the rest to a user who may not read Secrets', async () => {
    const reads = [
      { apiGroups: ['*'], resources: ['*'], verbs: ['list'] },
      { apiGroups: ['machine.openshift.io', 'cluster.x-k8s.io'], resources: ['*'], verbs: ['get'] },
      {
        apiGroups: ['config.openshift.io', 'machineconfiguration.openshift.io', 'operator.openshift.io'],
        resources: ['*'],
        verbs: ['get'],
      },
      {
        apiGroups: ['infrastructure.cluster.x-k8s.io', 'apiextensions.k8s.io'],
        resources: ['*'],
        verbs: ['get'],
      },
      { apiGroups: [''], resources: ['configmaps'], verbs: ['get'] },
    ];
    await fleet.admin.create(clusterRoles, Object.assign({ metadata: { name: 'viewer' } }, { rules: reads }));
    const binding = {
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'viewer' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'viewer' }],
    };
    await fleet.admin.create(clusterRoleBindings, Object.assign({ metadata: { name: 'viewer' } }, binding));
    const kubeconfig = await fleet.controlPlane.kubeconfigFor({ user: 'viewer', groups: [], name: 'viewer' });
    const { code, out } = await runInProcess('bootimages', '-o', 'json', '--kubeconfig', kubeconfig);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      resources: expect.arrayContaining([
        expect.objectContaining({
          image: formatImage(1),
          stub: { current: 'worker-user-data', wanted: 'worker-user-data' },
        }),
      ]) as object[],
    });
  });

  it('has no history yet', async () => {
    expect(await bootimages('history', 'worker-a')).toMatchObject({
      code: 0,
      out: 'MachineSet openshift-machine-api/worker-a of machine.openshift.io: its boot image has not changed yet\n',
    });
    expect(await bootimages('history', 'worker-z')).toMatchObject({ code: 1, thrown: 'SLW_CLI_NO_MACHINES' });
    expect(await bootimages('restore', 'worker-a', '--to', formatVersion(1))).toMatchObject({
      code: 1,
      out: '',
      thrown: 'SLW_CLI_BOOT_IMAGE',
    });
  });
});

describe('slipway bootimages with running controllers', () => {
  beforeAll(async () => {
    const machineManagers = [
      { resource: 'machinesets', apiGroup: 'machine.openshift.io', selection: { mode: 'All' } },
      { resource: 'machinesets', apiGroup: 'cluster.x-k8s.io', selection: { mode: 'All' } },
    ] as const;
    await fleet.admin.apply(
      machineConfigurations,
      { metadata: { name: 'cluster' }, spec: { managedBootImages: { machineManagers: [...machineManagers] } } },
      {},
      { fieldManager: 'somebody', force: true },
    );
    await fleet.controller('--feature-gates', 'ManagedBootImages=true', '--server-url', SERVER);
    await untilEntry('worker-a', { verdict: 'current' });
  }, 120_000);

  it('reports what was done: current, user-managed, or failed', async () => {
    await untilEntry('worker-a', { verdict: 'current', image: formatImage(2), target: formatImage(2) });
    await untilEntry('worker-b', { verdict: 'current' });
    await until(async () => expect((await bootimages('history', 'worker-fresh')).out).toContain(formatVersion(2)));
    expect(await providerSpec('worker-a')).toMatchObject({
      disks: [{ boot: true, image: formatImage(2), sizeGb: 128, labels: null }],
      userDataSecret: { name: 'worker-user-data-managed' },
    });
    expect(await entry('worker-mine')).toMatchObject({ verdict: 'theirs' });
    expect(await providerSpec('worker-mine')).toMatchObject({ disks: [{ image: MINE }] });
    expect(await entry('worker-odd')).toMatchObject({ verdict: 'failed', code: 'SLW_BOOT_IMAGES_SPEC' });
    expect((await report()).configMap).toMatchObject({ state: 'in use', releaseVersion: '4.22.2' });
  });

  it('adopts unknown images, and no image of a user', async () => {
    await untilEntry('worker-old', { verdict: 'theirs', image: 'demo-rhcos-image' });
    await until(async () => {
      const { status } = await fleet.admin.get(machineConfigurations, { name: 'cluster' });
      expect(status?.conditions?.map(({ message }) => message)).toContainEqual(
        expect.stringContaining(
          'does not know the image: openshift-machine-api/worker-old. If a release shipped it, run: slipway bootimages adopt',
        ),
      );
    });
    const before = await machines('worker-old');
    const trial = await bootimages('adopt', '--dry-run');
    expect(trial).toMatchObject({ code: 0, out: expect.stringContaining('Nothing was written (--dry-run).') });
    expect(trial.out).toMatch(/worker-old \(mapi\) +demo-rhcos-image +rhcos-9-8-20260402-0-gcp-x86-64 +update /);
    expect(trial.out).not.toMatch(/worker-mine|worker-odd|capi/);
    expect((await machines('worker-old')).metadata.resourceVersion).toBe(before.metadata.resourceVersion);
    // There is no terminal to ask on.
    expect(await bootimages('adopt')).toMatchObject({ code: 1, thrown: 'SLW_CLI_USAGE' });
    expect((await machines('worker-old')).metadata.resourceVersion).toBe(before.metadata.resourceVersion);
    const { code, out } = await bootimages('adopt', '--yes', '-o', 'json');
    expect({ code, report: JSON.parse(out) as object }).toMatchObject({
      code: 0,
      report: {
        dryRun: false,
        written: true,
        resources: [{ resource: { name: 'worker-old' }, target: formatImage(2) }],
      },
    });
    await untilEntry('worker-old', { verdict: 'current', image: formatImage(2), isUnknown: false });
    expect((await bootimages('adopt')).out).toBe('There is nothing to adopt. Nothing was written.\n');
    expect((await machines('worker-mine')).metadata.annotations ?? {}).not.toHaveProperty([
      'slipway.dev/boot-image-adopt',
    ]);
    expect(await bootimages('adopt', 'nobody')).toMatchObject({ code: 1, thrown: 'SLW_CLI_NO_MACHINES' });
  });

  it('shows the history, newest first, and the original image', async () => {
    await setRelease(3);
    await untilEntry('worker-a', { verdict: 'current', image: formatImage(3) });
    await until(async () => {
      const { out } = await bootimages('history', 'worker-a', '-o', 'json');
      expect(JSON.parse(out)).toMatchObject([
        {
          resource: { namespace: NAMESPACE, name: 'worker-a' },
          entries: [
            { version: formatVersion(3), image: formatImage(3), configMapGeneration: 2 },
            { version: formatVersion(2), image: formatImage(2), configMapGeneration: 1 },
            { version: null, image: formatImage(1), configMapGeneration: null },
          ],
        },
      ]);
    });
    const { out } = await bootimages('history', 'worker-a', '-n', NAMESPACE, '--api', 'mapi');
    expect(out.split('\n')[2]).toMatch(new RegExp(`^20.*Z +${formatVersion(3)} +#2 +${formatImage(3)}$`));
    expect(await bootimages('history', 'worker-a', '--api', 'capi')).toMatchObject({ thrown: 'SLW_CLI_NO_MACHINES' });
  });

  it('shows the changes of a restore with --dry-run, and writes nothing', async () => {
    const before = await machines('worker-a');
    const { code, out } = await bootimages('restore', 'worker-a', '--to', formatVersion(2), '--dry-run');
    expect(code).toBe(0);
    expect(out).toContain(`/spec/template/spec/providerSpec/value/disks/0/image: "${formatImage(2)}"`);
    expect(out).toContain('Nothing was written (--dry-run).');
    expect((await machines('worker-a')).metadata.resourceVersion).toBe(before.metadata.resourceVersion);
  });

  it('restores an earlier image and holds it, whatever the next release ships', async () => {
    const { code, out } = await bootimages('restore', 'worker-a', '--to', formatVersion(2));
    expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining('is held at') });
    const held = { verdict: 'skipped', image: formatImage(2), why: expect.stringContaining('held by a user') };
    await untilEntry('worker-a', held);
    await setRelease(4);
    await untilEntry('worker-b', { verdict: 'current', image: formatImage(4) });
    expect(await entry('worker-a')).toMatchObject(held);
    expect(await providerSpec('worker-a')).toMatchObject({
      disks: [{ boot: true, image: formatImage(2), sizeGb: 128, labels: null }],
      userDataSecret: { name: 'worker-user-data-managed' },
    });
    const again = await bootimages('restore', 'worker-a', '--to', formatVersion(2));
    expect(again.out).toContain('and is held there. Nothing was written');
  });

  it('restores a MachineSet that was at the image of the release when it was opted in to its first spec, byte for byte', async () => {
    await untilEntry('worker-fresh', { verdict: 'current', image: formatImage(4) });
    await until(async () => expect((await bootimages('history', 'worker-fresh')).out).toContain(formatImage(4)));
    await bootimages('restore', 'worker-fresh', '--to', formatVersion(2));
    await untilEntry('worker-fresh', {
      verdict: 'skipped',
      image: formatImage(2),
      why: expect.stringContaining('held by a user'),
    });
    expect(JSON.stringify(await providerSpec('worker-fresh'))).toBe(firstSpec);
  });

  it('refuses an unknown version and lists the known ones', async () => {
    const { code, err, thrown } = await bootimages('restore', 'worker-a', '--to', '9.9.9-9');
    expect({ code, thrown }).toEqual({ code: 1, thrown: 'SLW_CLI_BOOT_IMAGE' });
    expect(err).toContain(`recorded: ${formatVersion(3)}, ${formatVersion(2)}, ${formatImage(1)}`);
  });

  it('ends the hold with --release', async () => {
    const trial = await bootimages('restore', 'worker-a', '--release', '--dry-run');
    expect(trial.out).toContain('Nothing was written');
    expect(await entry('worker-a')).toMatchObject({ verdict: 'skipped' });
    const { out } = await bootimages('restore', 'worker-a', '--release');
    expect(out).toContain(`no longer held at ${formatVersion(2)}`);
    await untilEntry('worker-a', { verdict: 'current', image: formatImage(4) });
    expect((await bootimages('restore', 'worker-a', '--release')).out).toContain('is not held. Nothing was written');
  });

  it('does the same in Cluster API, with templates', async () => {
    const imageNow = async (): Promise<string | undefined> => {
      const { spec } = await fleet.admin.get(clusterApiMachineSets, { namespace: CLUSTER_API, name: 'capi-a' });
      const { name = '' } = spec?.template?.spec?.infrastructureRef ?? {};
      const template = await fleet.admin.get(gcpMachineTemplates, { namespace: CLUSTER_API, name });
      return template.spec.template.spec.image;
    };
    await untilEntry('capi-a', { verdict: 'current', image: formatImage(4) });
    expect(await entry('capi-lost')).toMatchObject({ verdict: 'failed', code: 'SLW_BOOT_IMAGES_TEMPLATE' });
    expect(await entry('capi-md')).toMatchObject({ verdict: 'skipped', image: formatImage(1) });
    const trial = await bootimages('restore', 'capi-a', '--to', formatImage(1), '--dry-run');
    expect(trial.out).toContain('/spec/template/spec/infrastructureRef/name: "template-');
    expect(await imageNow()).toBe(formatImage(4));
    const { code, out } = await bootimages('restore', 'capi-a', '--to', formatImage(1));
    expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining('is held at') });
    expect(await imageNow()).toBe(formatImage(1));
    await untilEntry('capi-a', { verdict: 'skipped', why: expect.stringContaining('held by a user') });
    await bootimages('restore', 'capi-a', '--release');
    await untilEntry('capi-a', { verdict: 'current', image: formatImage(4) });
    expect(await imageNow()).toBe(formatImage(4));
  });
});
