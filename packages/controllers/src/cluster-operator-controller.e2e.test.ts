// The ClusterOperator on a real control plane, without the controllers of the jobs: the test writes what they report.
import {
  clusterOperators,
  clusterVersions,
  dataImages,
  machineConfigPools,
  machineConfigurations,
  namespaces,
} from '@slipway/api';
import type { Client, KubeObject, Resource } from '@slipway/kube';
import { machineConfigPool } from '@slipway/testing/builders';
import { startTestCluster } from '@slipway/testing/control-plane';
import { createFakeGates } from '@slipway/testing/gates';
import { runControllers, type RunningControllers } from '@slipway/testing/run-controllers';
import { until } from '@slipway/testing/wait';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { clusterOperatorController } from './cluster-operator-controller.ts';
import { upgradeableController } from './os-streams/upgradeable-controller.ts';

const OPERATOR = { name: 'machine-config' };
const DRIVE = { namespace: 'metal', name: 'host-a' };

let cluster: Awaited<ReturnType<typeof startTestCluster>>;
let client: Client;
let running: RunningControllers;

const condition = (type: string, status: 'True' | 'False', message = '') => ({
  type,
  status,
  reason: 'Because',
  message,
  lastTransitionTime: '2026-01-01T00:00:00Z',
});

async function setStatus<T extends KubeObject>(
  resource: Resource<T>,
  name: { name: string; namespace?: string },
  status: object,
): Promise<void> {
  await client.patch(resource, name, { type: 'merge', body: { status } }, {}, { subresource: 'status' });
}

/** On its newest config, and updated. */
const setPool = async (name: string, ...conditions: object[]): Promise<void> => {
  const { metadata, spec } = await client.get(machineConfigPools, { name });
  await setStatus(
    machineConfigPools,
    { name },
    {
      observedGeneration: metadata.generation,
      configuration: spec.configuration,
      conditions: [condition('Updated', 'True'), ...conditions],
    },
  );
};

const setMachineConfiguration = (...conditions: object[]) =>
  setStatus(machineConfigurations, { name: 'cluster' }, { conditions });

/** The finding of the job, which is a condition of the same object. */
async function setStreams(status: 'True' | 'False', message = ''): Promise<void> {
  const conditions = [condition('OSImageStreamsDegraded', status, message)];
  const options = { fieldManager: 'slipway-os-streams', force: true, subresource: 'status' } as const;
  await client.apply(clusterOperators, { metadata: OPERATOR, status: { conditions } }, {}, options);
}

async function readOperator() {
  const { status } = await client.get(clusterOperators, OPERATOR);
  const conditions = Object.fromEntries(
    (status?.conditions ?? []).map(({ type, status: value, reason, message }) => [
      type,
      { status: value, reason, message },
    ]),
  );
  return {
    conditions,
    versions: Object.fromEntries((status?.versions ?? []).map(({ name, version }) => [name, version])),
  };
}

const untilOperator = (expected: object): Promise<void> =>
  until(async () => expect(await readOperator()).toMatchObject(expected));

const FINE = {
  conditions: {
    Available: { status: 'True', reason: 'AsExpected' },
    Progressing: { status: 'False', reason: 'AsExpected' },
    Degraded: { status: 'False', reason: 'AsExpected' },
    Upgradeable: { status: 'True', reason: 'AsExpected' },
  },
  versions: { operator: '4.23.0', slipway: '1.2.3' },
};

const setRelease = (version: string) =>
  setStatus(
    clusterVersions,
    { name: 'version' },
    {
      desired: { version, image: 'quay.example/release' },
      observedGeneration: 1,
      versionHash: version,
      availableUpdates: [],
    },
  );

beforeAll(async () => {
  cluster = await startTestCluster();
  client = cluster.operator;
  for (const name of ['master', 'worker']) {
    await client.create(machineConfigPools, machineConfigPool(name, { configuration: { name: `rendered-${name}-1` } }));
    await setPool(name);
  }
  await client.create(machineConfigurations, { metadata: { name: 'cluster' }, spec: {} });
  await client.create(namespaces, { metadata: { name: DRIVE.namespace } });
  await client.create(dataImages, { metadata: DRIVE, spec: { url: 'https://images.example/a.iso' } });
  await client.create(clusterVersions, { metadata: { name: 'version' }, spec: { clusterID: 'test' } });
  await setRelease('4.23.0');
  const gates = createFakeGates(false);
  running = runControllers(
    client,
    [
      clusterOperatorController({ controllerVersion: '1.2.3', gates, managesHosts: true }),
      upgradeableController(gates),
    ],
    { gates },
  );
  await untilOperator(FINE);
}, 120_000);
afterAll(async () => {
  await running?.stop();
  await cluster?.stop();
});

const settle = async (): Promise<void> => {
  await setRelease('4.23.0');
  for (const pool of ['master', 'worker']) await setPool(pool);
  await setMachineConfiguration();
  await setStreams('False');
  await setStatus(dataImages, DRIVE, { error: { count: 0, message: '' } });
  await untilOperator(FINE);
};

// Also after a failure, which must not fail the next case.
afterEach(settle);

describe('the ClusterOperator', () => {
  it.each<[string, string, () => Promise<void>, object?]>([
    [
      'machine configuration',
      'PoolDegraded',
      () => setPool('worker', condition('Degraded', 'True', 'Node worker-a fails')),
      { status: 'False', reason: 'DegradedPool' },
    ],
    ['OS image streams', 'OSImageStreamDegraded', () => setStreams('True', 'the registry fails')],
    [
      'boot images',
      'BootImageUpdateDegraded',
      () => setMachineConfiguration(condition('BootImageUpdateDegraded', 'True', 'MachineSet a: forbidden')),
    ],
    [
      'pinned images',
      'PinnedImageSetsDegraded',
      () => setPool('worker', condition('PinnedImageSetsDegraded', 'True', 'Node worker-a: no space')),
    ],
    [
      'data images',
      'DataImageFailed',
      () => setStatus(dataImages, DRIVE, { error: { count: 3, message: 'the BMC refuses the ISO' } }),
    ],
  ])(
    'is Degraded while the job of %s is, and recovers',
    async (_, reason, fail, upgradeable = FINE.conditions.Upgradeable) => {
      await fail();
      const conditions = { ...FINE.conditions, Degraded: { status: 'True', reason }, Upgradeable: upgradeable };
      await until(async () => expect(await readOperator()).toMatchObject({ ...FINE, conditions }));
      await settle();
      expect(await readOperator()).toMatchObject(FINE);
    },
  );

  it('is Progressing during a rollout, and reports the version of the platform once the masters run it', async () => {
    await setPool('worker', condition('Updating', 'True', '1 of 3'));
    const updating = {
      conditions: { Progressing: { status: 'True', reason: 'PoolUpdating' } },
      versions: FINE.versions,
    };
    await until(async () => expect(await readOperator()).toMatchObject(updating));
    await setPool('worker');
    await setStatus(machineConfigPools, { name: 'master' }, { configuration: { name: 'rendered-master-0' } });
    await setRelease('4.24.0');
    const message = 'Working towards 4.24.0: waiting for MachineConfigPool master';
    const Progressing = { status: 'True', reason: 'VersionChanging', message };
    await until(async () =>
      expect(await readOperator()).toMatchObject({ conditions: { Progressing }, versions: FINE.versions }),
    );
    await setPool('master');
    const versions = { operator: '4.24.0', slipway: '1.2.3' };
    await until(async () => expect(await readOperator()).toMatchObject({ ...FINE, versions }));
  });
});
