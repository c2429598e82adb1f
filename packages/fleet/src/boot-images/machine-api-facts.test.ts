import { describe, expect, it } from 'vitest';
import { type MachineContext, readMachineSet } from './machine-api-facts.ts';
import { gcpSpec, libvirtSpec } from './testing/provider-specs.ts';
import type { JsonObject } from './verdict.ts';

const context: MachineContext = { platformType: '', clusterArchitecture: '', ownArchitecture: 'amd64' };
const setOf = (value: JsonObject) => ({
  metadata: { name: 'a' },
  spec: { template: { spec: { providerSpec: { value } } } },
});

describe('what a MachineSet says of its machines', () => {
  it.each([
    ['is read as the cluster says that it is', 'GCP', gcpSpec, { ok: true, platform: 'gcp' }, 'worker-user-data'],
    [
      'is told by its kind where the cluster says nothing',
      '',
      gcpSpec,
      { ok: true, platform: 'gcp' },
      'worker-user-data',
    ],
    [
      'is told by its kind on a platform without a name',
      'None',
      libvirtSpec,
      { ok: true, platform: 'libvirt' },
      'worker-user-data',
    ],
    [
      'is refused where it is of another platform than the cluster',
      'AWS',
      gcpSpec,
      { ok: false, platform: 'aws', code: 'SLW_BOOT_IMAGES_SPEC' },
      '',
    ],
    [
      'is refused where nobody knows the platform',
      'KubeVirt',
      { ...gcpSpec, kind: 'KubevirtMachineProviderSpec' },
      { ok: false, platform: null, code: 'SLW_BOOT_IMAGES_PLATFORM' },
      '',
    ],
  ] as const)('%s', (_, platformType, value, machine, userData) => {
    expect(readMachineSet(setOf(value), { ...context, platformType })).toMatchObject({ machine, userData });
  });
});
