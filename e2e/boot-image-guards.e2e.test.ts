// The guard of managed boot images on a real API server: on which platforms they can be opted in to.
import {
  bootImagePlatforms,
  DEFAULT_NAMESPACE,
  infrastructures,
  machineConfigurations,
  type PlatformType,
} from '@slipway/api';
import type { Client } from '@slipway/kube';
import { operator } from '@slipway/testing/control-plane';
import { until } from '@slipway/testing/wait';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectRefused, startGuardedCluster, type GuardedCluster } from './os-stream-guards/cluster.ts';

const POLICY = 'managed-boot-images-platform';
const name = { name: 'cluster' };
const SUPPORTED =
  'AlibabaCloud, AWS, Azure, BareMetal, GCP, IBMCloud, Libvirt, Nutanix, OpenStack, oVirt, PowerVS, VSphere';
const formatRefusal = (platform: string): string =>
  `spec.managedBootImages of MachineConfiguration cluster opts in to managed boot images, which do not work on the platform of this cluster, ${platform} (status.platformStatus.type of Infrastructure cluster). They work on ${SUPPORTED}. Omit the field, or set selection.mode to None`;

type Mode = 'All' | 'None' | 'Partial';
const entry = (mode: Mode, apiGroup: 'machine.openshift.io' | 'cluster.x-k8s.io' = 'machine.openshift.io') => ({
  resource: 'machinesets' as const,
  apiGroup,
  selection: { mode, ...(mode === 'Partial' && { partial: { machineResourceSelector: {} } }) },
});
const buildOptIn = (...machineManagers: ReturnType<typeof entry>[]) => ({ managedBootImages: { machineManagers } });

let cluster: GuardedCluster;
let admin: Client;
let controllers: Client;

const patch = (client: Client, spec: object, dryRun = true): Promise<unknown> =>
  client.patch(machineConfigurations, name, { type: 'merge', body: { spec } }, {}, { dryRun });
const create = (client: Client, spec: object): Promise<unknown> =>
  client.create(machineConfigurations, { metadata: { name: 'cluster' }, spec }, { dryRun: true });

async function setPlatform(type: PlatformType | null): Promise<void> {
  const status = type === null ? null : { infrastructureName: 'x', platformStatus: { type } };
  await admin.patch(infrastructures, name, { type: 'merge', body: { status } }, {}, { subresource: 'status' });
}

beforeAll(async () => {
  cluster = await startGuardedCluster();
  ({ admin, controllers } = cluster);
}, 120_000);

afterAll(async () => cluster?.stop());

it('without an Infrastructure, as on plain Kubernetes, everybody may opt in', async () => {
  await expect(create(admin, buildOptIn(entry('All', 'cluster.x-k8s.io')))).resolves.toBeDefined();
  await controllers.create(machineConfigurations, { metadata: { name: 'cluster' }, spec: {} });
  await expect(patch(admin, buildOptIn(entry('All')))).resolves.toBeDefined();
});

describe('on a platform where nothing can come of it', () => {
  beforeAll(async () => {
    await admin.create(infrastructures, { metadata: { name: 'cluster' }, spec: {} });
    await setPlatform('None');
    await until(() => expectRefused(patch(admin, buildOptIn(entry('All'))), POLICY));
  }, 90_000);

  it.each<Mode>(['All', 'Partial'])('%s is refused, with the platform and those that are supported', async (mode) => {
    await expectRefused(patch(admin, buildOptIn(entry(mode))), POLICY, formatRefusal('None'));
    await expectRefused(
      patch(admin, buildOptIn(entry('None'), entry(mode, 'cluster.x-k8s.io'))),
      POLICY,
      formatRefusal('None'),
    );
  });

  it('a new MachineConfiguration is refused as well', async () => {
    await controllers.delete(machineConfigurations, name, {});
    await expectRefused(create(admin, buildOptIn(entry('All'))), POLICY, formatRefusal('None'));
    await expect(create(admin, buildOptIn(entry('None')))).resolves.toBeDefined();
    await controllers.create(machineConfigurations, { metadata: { name: 'cluster' }, spec: {} });
  });

  it('all else can be changed, and saying no is always possible', async () => {
    await expect(patch(admin, { logLevel: 'Debug' })).resolves.toBeDefined();
    await expect(patch(admin, buildOptIn(entry('None')))).resolves.toBeDefined();
    await expect(patch(admin, buildOptIn())).resolves.toBeDefined();
  });

  it('what is opted in already is no obstacle to opting out, in part or in all', async () => {
    await patch(controllers, buildOptIn(entry('All'), entry('All', 'cluster.x-k8s.io')), false);
    await expect(patch(admin, { logLevel: 'Debug' })).resolves.toBeDefined();
    await expect(patch(admin, buildOptIn(entry('All')))).resolves.toBeDefined();
    await expect(patch(admin, buildOptIn(entry('None'), entry('All', 'cluster.x-k8s.io')))).resolves.toBeDefined();
    await expect(patch(admin, { managedBootImages: null })).resolves.toBeDefined();
    await expectRefused(patch(admin, buildOptIn(entry('Partial'))), POLICY);
    await patch(controllers, { managedBootImages: null }, false);
  });

  it.each([
    ['our controllers', operator.user, `system:serviceaccounts:${DEFAULT_NAMESPACE}`],
    ['people in an emergency', 'somebody', 'slipway:break-glass'],
  ])('%s are not stopped', async (_, user, group) => {
    await expect(patch(await cluster.clientOf(user, group), buildOptIn(entry('All')))).resolves.toBeDefined();
  });
});

it.each(bootImagePlatforms)('on %s everybody may opt in', async (platform) => {
  // Else the platform before it could be the one that is still seen.
  await setPlatform('None');
  await until(() => expectRefused(patch(admin, buildOptIn(entry('All'))), POLICY));
  await setPlatform(platform);
  const both = buildOptIn(entry('All'), entry('Partial', 'cluster.x-k8s.io'));
  await expect(until(() => patch(admin, both))).resolves.toBeDefined();
});

it.each<PlatformType>(['KubeVirt', 'EquinixMetal', 'External'])('on %s nobody', async (platform) => {
  await setPlatform(platform);
  await until(() => expectRefused(patch(admin, buildOptIn(entry('All'))), POLICY, formatRefusal(platform)));
});

it('while nobody has said which platform it is, everybody may', async () => {
  await setPlatform(null);
  await expect(until(() => patch(admin, buildOptIn(entry('All'))))).resolves.toBeDefined();
});

it('and with the Infrastructure gone again, controllers and people work', async () => {
  await setPlatform('None');
  await until(() => expectRefused(patch(admin, buildOptIn(entry('All'))), POLICY));
  await admin.delete(infrastructures, name, {});
  await until(() => patch(admin, buildOptIn(entry('All'))));
  await expect(patch(controllers, buildOptIn(entry('All')))).resolves.toBeDefined();
});
