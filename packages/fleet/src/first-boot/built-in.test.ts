import { machineConfigKind, validate } from '@slipway/api';
import { parse, validate as validateIgnition } from '@slipway/ignition';
import { describe, expect, it } from 'vitest';
import { missingPools } from '../pool-membership.ts';
import { builtInMachineConfigs, missingBuiltIn } from './built-in.ts';

const buildUnits = (daemonImage?: string) =>
  builtInMachineConfigs({ controllerVersion: '1.2.3', daemonImage }).map(({ spec }) => {
    const { config } = parse(spec.config ?? {});
    if (config === null || !('systemd' in config)) throw new Error('no config');
    expect(validateIgnition(config)).toEqual([]);
    return config.systemd?.units ?? [];
  });

describe('the built-in MachineConfigs', () => {
  it('are valid, one for each role, with the version of their creator', () => {
    const made = builtInMachineConfigs({ controllerVersion: '1.2.3' });
    expect(made.map(({ metadata }) => metadata.name)).toEqual(['00-master', '00-worker', '00-arbiter']);
    for (const each of made) {
      const manifest = { apiVersion: 'machineconfiguration.openshift.io/v1', kind: 'MachineConfig', ...each };
      expect(validate(machineConfigKind, manifest)).toMatchObject({ ok: true });
      expect(each.metadata.annotations).toEqual({
        'machineconfiguration.openshift.io/generated-by-controller-version': '1.2.3',
      });
      expect(each.metadata.labels).toHaveProperty(['machineconfiguration.openshift.io/mco-built-in']);
    }
  });

  it('ship the service that finishes a first boot before the kubelet starts', () => {
    for (const units of buildUnits()) {
      expect(units.map((unit) => unit.name)).toEqual([
        'machine-config-daemon-firstboot.service',
        'machine-config-daemon.service',
      ]);
      expect(units[0]?.contents).toMatch(/^Before=.*kubelet\.service$/m);
    }
  });

  it('ship the daemon, which starts after the first boot and restarts whenever it exits', () => {
    for (const units of buildUnits()) {
      expect(units[1]).toMatchObject({ name: 'machine-config-daemon.service', enabled: true });
      expect(units[1]?.contents).toMatch(/^After=.*machine-config-daemon-firstboot\.service$/m);
      expect(units[1]?.contents).toMatch(/^Restart=always$/m);
    }
  });

  it('install the program from an image if one is set', () => {
    const image = 'registry.example.com/slipway@sha256:00';
    for (const units of buildUnits(image)) {
      expect(units.map((unit) => unit.name)).toEqual([
        'machine-config-daemon-pull.service',
        'machine-config-daemon-firstboot.service',
        'machine-config-daemon.service',
      ]);
      expect(units[0]?.contents).toContain(`podman pull --authfile=/var/lib/kubelet/config.json ${image}\n`);
    }
  });
});

describe('a fleet', () => {
  const options = { controllerVersion: '1.2.3' };
  const named = (name: string) => ({ metadata: { name } });

  it.each<[string, string[], string[], string[]]>([
    ['needs those of masters and workers', [], [], ['00-master', '00-worker']],
    ['needs that of arbiters if it has a pool arbiter', ['arbiter'], [], ['00-master', '00-worker', '00-arbiter']],
    ['has others of its own pools', ['infra'], ['00-master', '99-x'], ['00-worker']],
    ['may have them all', ['arbiter'], ['00-arbiter', '00-master', '00-worker'], []],
  ])('%s', (_, pools, machineConfigs, missing) => {
    const fleet = { pools: [...missingPools([]), ...pools.map(named)], machineConfigs: machineConfigs.map(named) };
    expect(missingBuiltIn(fleet, options).map(({ metadata }) => metadata.name)).toEqual(missing);
  });
});
