// A MachineSet that the API server forbids to patch for some time: the real controllers, on an API in memory, in virtual time.
import {
  configMaps,
  infrastructures,
  machineConfigPools,
  type MachineConfigPool,
  machineConfigs,
  machineConfigurations,
  machineSets,
  secrets,
} from '@slipway/api';
import { bootImagesData, gcpSpec, keptOfOlderRelease, managedStub } from '@slipway/fleet/boot-images/testing';
import { createMetrics, KubeError, type KubeObject, resourceId } from '@slipway/kube';
import { machineConfigPool, renderedConfig } from '@slipway/testing/builders';
import { createFakeGates } from '@slipway/testing/gates';
import { startCalmProcess } from '../../testing/simulation/controller-process.ts';
import { createMemoryApi, type MemoryApi } from '../../testing/simulation/memory-api.ts';
import { createVirtualTime } from '../../testing/simulation/virtual-time.ts';
import { bootImagesControllers } from '../controllers.ts';

const MINUTE = 60_000;
const START = Date.parse('2026-01-02T03:00:00Z');
const namespace = 'openshift-machine-config-operator';
const machineApiNamespace = 'openshift-machine-api';

export interface ForbiddenWriteReport {
  /** Each change of condition BootImageUpdateDegraded, with the minute since the start. */
  readonly degraded: readonly { readonly minute: number; readonly status: string }[];
  /** What the process serves on /metrics, at each minute from 0 on. */
  readonly scrapes: readonly string[];
  /** The minute in which the MachineSet got its image. */
  readonly patchedAt: number | null;
}

/** The MachineSet cannot be patched from the start on for `forbiddenMinutes`, and can be patched after that. */
export async function simulateForbiddenWrite(
  forbiddenMinutes: number,
  totalMinutes: number,
): Promise<ForbiddenWriteReport> {
  const time = createVirtualTime(START);
  const api = createMemoryApi(time.now);
  const metrics = createMetrics();
  const minuteNow = (): number => (time.now() - START) / MINUTE;
  prepare(api);
  let patchedAt: number | null = null;
  startCalmProcess({
    api,
    time,
    controllers: bootImagesControllers({
      namespace,
      machineApiNamespace,
      clusterApiNamespace: 'openshift-cluster-api',
      controllerVersion: '1.2.3',
      gates: createFakeGates({ ManagedBootImages: true }),
      metrics,
    }),
    by(_run, { resource }, carryOut) {
      if (resourceId(resource) !== resourceId(machineSets)) return carryOut();
      if (minuteNow() < forbiddenMinutes)
        throw new KubeError('SLW_KUBE_FORBIDDEN', 'machinesets.machine.openshift.io "a" is forbidden', { status: 403 });
      patchedAt ??= minuteNow();
      return carryOut();
    },
  });
  const degraded = watchDegraded(api, minuteNow);
  const scrapes: string[] = [];
  for (let minute = 0; minute <= totalMinutes; minute += 1) {
    await time.runUntil(START + minute * MINUTE);
    scrapes.push(await metrics.registry.metrics());
  }
  return { degraded, scrapes, patchedAt };
}

function watchDegraded(api: MemoryApi, minuteNow: () => number): { minute: number; status: string }[] {
  const changes: { minute: number; status: string }[] = [];
  api.onChange(({ resource }) => {
    if (resourceId(resource) !== resourceId(machineConfigurations)) return;
    const { status } = api.get(machineConfigurations, { name: 'cluster' });
    const found = status?.conditions?.find(({ type }) => type === 'BootImageUpdateDegraded');
    if (found !== undefined && found.status !== changes.at(-1)?.status)
      changes.push({ minute: Math.floor(minuteNow()), status: found.status });
  });
  return changes;
}

/** A cluster on GCP whose pools are updated, and whose MachineSet `a` has the boot image of an older release. */
function prepare(api: MemoryApi): void {
  api.create<KubeObject>(infrastructures, { metadata: { name: 'cluster' } });
  const platform = { infrastructureName: 'demo', platform: 'GCP', platformStatus: { type: 'GCP' } };
  patchStatus(api, infrastructures, 'cluster', platform);
  for (const name of ['master', 'worker']) addUpdatedPool(api, name);
  api.create(secrets, {
    metadata: { namespace: machineApiNamespace, name: 'worker-user-data-managed' },
    data: { userData: encode(JSON.stringify(managedStub())), disableTemplating: encode('true') },
  });
  api.create(configMaps, {
    metadata: {
      namespace,
      name: 'coreos-bootimages',
      annotations: { 'slipway.dev/boot-images-known': keptOfOlderRelease },
    },
    data: bootImagesData(),
  });
  api.create(machineConfigurations, {
    metadata: { name: 'cluster' },
    spec: {
      managedBootImages: {
        machineManagers: [{ resource: 'machinesets', apiGroup: 'machine.openshift.io', selection: { mode: 'All' } }],
      },
    },
  });
  api.create(machineSets, {
    metadata: { namespace: machineApiNamespace, name: 'a' },
    spec: {
      template: {
        spec: { providerSpec: { value: { ...gcpSpec, userDataSecret: { name: 'worker-user-data-managed' } } } },
      },
    },
  });
}

const encode = (text: string): string => Buffer.from(text).toString('base64');

function patchStatus(api: MemoryApi, resource: Parameters<MemoryApi['patch']>[0], name: string, status: object): void {
  api.patch(resource, { name }, { type: 'merge', body: { status } }, {}, 'status');
}

function addUpdatedPool(api: MemoryApi, name: string): void {
  const configuration = { name: `rendered-${name}-1` };
  api.create(machineConfigs, renderedConfig(configuration.name, name, { osImageURL: '' }));
  const pool: MachineConfigPool = machineConfigPool(name, { configuration });
  api.create(machineConfigPools, pool);
  patchStatus(api, machineConfigPools, name, {
    machineCount: 3,
    updatedMachineCount: 3,
    readyMachineCount: 3,
    unavailableMachineCount: 0,
    degradedMachineCount: 0,
    configuration,
    observedGeneration: 1,
  });
}
