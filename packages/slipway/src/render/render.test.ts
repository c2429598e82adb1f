import type { MachineConfig, MachineConfigPool } from '@slipway/api';
import { describe, expect, it } from 'vitest';
import type { FleetManifests } from '../manifests/fleet-manifests.ts';
import { completeFleet, findPool } from './render.ts';

const machineConfig = (name: string): MachineConfig => ({ metadata: { name } });
const pool = (name: string): MachineConfigPool => ({ metadata: { name }, spec: {} });
const manifests = (more: Partial<FleetManifests> = {}): FleetManifests => ({
  machineConfigs: [],
  pools: [],
  osImages: undefined,
  releaseVersion: undefined,
  osImageStream: undefined,
  ignored: new Map(),
  warnings: [],
  documents: new Map(),
  ...more,
});
const options = { osImages: {}, controllerVersion: '1.2.3' };
const listNames = (objects: { metadata: { name: string } }[]) => objects.map(({ metadata }) => metadata.name);

describe('a fleet from manifests', () => {
  it('has the default pools and built-in MachineConfigs, and reports that they were assumed', () => {
    const fleet = completeFleet(
      manifests({ machineConfigs: [machineConfig('99-x')], pools: [pool('infra')] }),
      options,
    );
    expect(listNames(fleet.pools)).toEqual(['infra', 'master', 'worker']);
    expect(listNames(fleet.machineConfigs)).toEqual(['00-master', '00-worker', '99-x']);
    expect([...fleet.assumedPools]).toEqual(['master', 'worker']);
    expect(fleet.assumptions).toEqual([
      '00-master, 00-worker: not in the manifests, so the built-in ones are used (version 1.2.3)',
      'OS image: the manifests have no ConfigMap machine-config-osimageurl, and --os-image is not set; the result has an OS image only if a MachineConfig sets one',
    ]);
  });

  it('uses everything in the manifests except rendered configs', () => {
    const given = manifests({
      machineConfigs: [machineConfig('00-worker'), machineConfig('00-master'), machineConfig('rendered-worker-1')],
      pools: [pool('master'), pool('worker')],
      osImages: { osImageURL: 'os', baseOSExtensionsContainerImage: 'extensions' },
    });
    const fleet = completeFleet(given, options);
    expect(fleet.pools).toEqual([pool('master'), pool('worker')]);
    expect(fleet.machineConfigs).toEqual([machineConfig('00-master'), machineConfig('00-worker')]);
    expect(fleet.assumptions).toEqual([
      'rendered MachineConfigs in the manifests (1): ignored, because they are not inputs',
    ]);
  });

  it('prefers the image of a flag over that of the manifests', () => {
    const given = manifests({ osImages: { osImageURL: 'a', baseOSExtensionsContainerImage: 'b' } });
    const fleet = completeFleet(given, { ...options, osImages: { osImageURL: 'c' } });
    expect(fleet.osImages).toEqual({ osImageURL: 'c', baseOSExtensionsContainerImage: 'b' });
  });

  it('refuses an unknown pool and lists the known ones', () => {
    const fleet = completeFleet(manifests({ pools: [pool('infra')] }), options);
    expect(findPool(fleet, 'worker').metadata.name).toBe('worker');
    expect(() => findPool(fleet, 'gpu')).toThrow(
      '--pool: expected one of infra, master, worker, found gpu, which is not in the manifests.',
    );
  });
});
