import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from './json.ts';
import {
  keyOfMachines,
  type MachineContext,
  formatResource,
  readOptIn,
  readMachineSet,
  readProviderSpec,
  resourceFacts,
  withUserDataSecret,
} from './facts.ts';
import { imageCases } from './testing/image-cases.ts';
import { awsSpec, baremetalImageSpec, gcpSpec, libvirtSpec } from './testing/provider-specs.ts';
import { clusterApiSet, everything, machineDeployment, machineSet } from './testing/sample-facts.ts';
import { platforms } from './platforms/index.ts';

const metadata = { name: 'workers' };

describe('which API decides', () => {
  it('comes from the MachineSet, and for Cluster API from its twin', () => {
    const moved = { metadata, status: { authoritativeAPI: 'ClusterAPI' } } as const;
    expect(resourceFacts(machineSet, moved).authoritativeApi).toBe('ClusterAPI');
    expect(resourceFacts(machineSet, { metadata }).authoritativeApi).toBeNull();
    expect(resourceFacts(clusterApiSet, { metadata }, moved).authoritativeApi).toBe('ClusterAPI');
    expect(resourceFacts(clusterApiSet, { metadata }, { status: {} }).authoritativeApi).toBe('MachineAPI');
    expect(resourceFacts(clusterApiSet, { metadata }).authoritativeApi).toBeNull();
  });
});

it('the rest is copied unchanged', () => {
  const ownerReferences = [{ apiVersion: 'v1', kind: 'Hive', name: 'h', uid: '1' }];
  const spec = { paused: true, template: { metadata: { labels: { os: 'x' } } } };
  const object = { metadata: { ...metadata, labels: { a: 'b' }, annotations: { c: 'd' }, ownerReferences }, spec };
  expect(resourceFacts(machineDeployment, object)).toEqual({
    resource: machineDeployment,
    labels: { a: 'b' },
    annotations: { c: 'd' },
    owners: [{ apiVersion: 'v1', kind: 'Hive', name: 'h' }],
    machineLabels: { os: 'x' },
    authoritativeApi: null,
    isPaused: true,
  });
});

it('the opt-in comes from spec, with its generation', () => {
  const object = {
    metadata: { name: 'cluster', uid: 'u', generation: 7 },
    spec: { managedBootImages: { machineManagers: [...everything] } },
  };
  expect(readOptIn(object)).toEqual({ uid: 'u', generation: 7, managers: everything });
  expect(readOptIn({ metadata: { name: 'cluster' }, spec: {} })).toEqual({ uid: '', generation: 0, managers: [] });
  expect(readOptIn(undefined)).toBeNull();
});

it('names and keys are unique for each resource', () => {
  expect([machineSet, clusterApiSet, machineDeployment].map(keyOfMachines)).toEqual([
    'mapi-machineset/openshift-machine-api/workers',
    'capi-machineset/openshift-cluster-api/workers',
    'capi-machinedeployment/openshift-cluster-api/workers',
  ]);
  expect(formatResource(machineDeployment)).toBe('MachineDeployment openshift-cluster-api/workers');
});

describe('a provider spec', () => {
  it.each(platforms)('of %s is read as installers write it, under its old group too', (platform) => {
    const specs = imageCases.filter((each) => each.platform === platform).map(({ spec }) => spec);
    expect(specs.map((spec) => readProviderSpec(platform, spec).ok)).toEqual(specs.map(() => true));
  });

  it.each<[string, Json | undefined, string]>([
    ['that is missing', undefined, 'value: expected an object of kind AWSMachineProviderConfig, found nothing'],
    ['that is a string', 'aws', 'found "aws"'],
    [
      'of another platform',
      gcpSpec,
      'value.kind: expected AWSMachineProviderConfig for platform aws, found "GCPMachineProviderSpec"',
    ],
    ['of an unknown kind', { ...awsSpec, kind: 'AWSMachineProviderConfigV2' }, 'found "AWSMachineProviderConfigV2"'],
    [
      'without a kind',
      { apiVersion: 'machine.openshift.io/v1beta1' },
      'value.kind: expected AWSMachineProviderConfig for platform aws, found nothing',
    ],
    [
      'of an unknown version',
      { ...awsSpec, apiVersion: 'machine.openshift.io/v2' },
      'value.apiVersion: expected machine.openshift.io/v1beta1 or awsproviderconfig.openshift.io/v1beta1, found "machine.openshift.io/v2"',
    ],
    [
      'of the group of another platform',
      { ...awsSpec, apiVersion: 'gcpprovider.openshift.io/v1beta1' },
      'value.apiVersion',
    ],
    [
      'whose user data is no name',
      { ...awsSpec, userDataSecret: { name: 7 } },
      'value.userDataSecret.name: expected the name of a Secret, found 7',
    ],
  ])('%s is refused', (_, value, message) => {
    expect(readProviderSpec('aws', value)).toEqual({
      ok: false,
      code: 'SLW_BOOT_IMAGES_SPEC',
      message: expect.stringContaining(message),
    });
  });
});

describe('user data', () => {
  it.each([
    ['aws', awsSpec, { ...awsSpec, userDataSecret: { name: 'other' } }],
    ['baremetal', baremetalImageSpec, { ...baremetalImageSpec, userData: { name: 'other' } }],
    ['libvirt', libvirtSpec, { ...libvirtSpec, ignition: { userDataSecret: 'other' } }],
  ] as const)('of %s is found and changed where the platform has it, and nothing else is', (platform, spec, after) => {
    expect(readProviderSpec(platform, spec)).toMatchObject({ ok: true, userDataSecret: 'worker-user-data' });
    expect(JSON.stringify(withUserDataSecret(platform, spec, 'other'))).toBe(JSON.stringify(after));
    expect(readProviderSpec(platform, withUserDataSecret(platform, spec, 'other'))).toMatchObject({
      userDataSecret: 'other',
    });
  });

  it('may be missing', () => {
    const { userDataSecret: _, ...spec } = awsSpec;
    expect(readProviderSpec('aws', spec)).toMatchObject({ ok: true, userDataSecret: '' });
  });
});

const context: MachineContext = { platformType: '', clusterArchitecture: '', ownArchitecture: 'amd64' };
const buildMachineSet = (value: JsonObject) => ({
  metadata: { name: 'a' },
  spec: { template: { spec: { providerSpec: { value } } } },
});

describe('the machines of a MachineSet', () => {
  it.each([
    ['are read for the platform of the cluster', 'GCP', gcpSpec, { ok: true, platform: 'gcp' }, 'worker-user-data'],
    ['are read by kind if the cluster has no platform', '', gcpSpec, { ok: true, platform: 'gcp' }, 'worker-user-data'],
    [
      'are read by kind on a platform without a name',
      'None',
      libvirtSpec,
      { ok: true, platform: 'libvirt' },
      'worker-user-data',
    ],
    [
      'are refused if their platform is not that of the cluster',
      'AWS',
      gcpSpec,
      { ok: false, platform: 'aws', code: 'SLW_BOOT_IMAGES_SPEC' },
      '',
    ],
    [
      'are refused if the platform is unknown',
      'KubeVirt',
      { ...gcpSpec, kind: 'KubevirtMachineProviderSpec' },
      { ok: false, platform: null, code: 'SLW_BOOT_IMAGES_PLATFORM' },
      '',
    ],
  ] as const)('%s', (_, platformType, value, machine, userData) => {
    expect(readMachineSet(buildMachineSet(value), { ...context, platformType })).toMatchObject({ machine, userData });
  });
});
