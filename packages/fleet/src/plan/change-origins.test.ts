import type { MachineConfig } from '@slipway/api';
import { describe, expect, it } from 'vitest';
import { diffRendered } from '../render/diff.ts';
import { readMachineConfig } from '../render/input.ts';
import { renderPool } from '../render/render-pool.ts';
import { machineConfig, withFile } from '../testing/sample-plan.ts';
import { type Explainable, withOrigins } from './change-origins.ts';

async function render(machineConfigs: readonly MachineConfig[], osImageURL = 'os:1'): Promise<Explainable> {
  const read = await Promise.all(machineConfigs.map((each) => readMachineConfig(each)));
  const inputs = read.flatMap((each) => (each.ok ? [each.input] : []));
  const result = await renderPool({ pool: 'worker', inputs, osImages: { osImageURL }, controllerVersion: '1' });
  if (!result.ok) throw new Error(result.problems.map(({ message }) => message).join());
  return result;
}

async function listOrigins(before: Explainable, after: Explainable, isKnown = true) {
  const { items } = await diffRendered(before.rendered.spec, after.rendered.spec);
  const changes = withOrigins(items ?? [], isKnown ? before : null, after);
  return changes.map(({ noun, name, from, was }) => ({ what: `${noun} ${name}`.trim(), from, was }));
}

const withKeys = (...keys: string[]) => ({
  config: { ignition: { version: '3.4.0' }, passwd: { users: [{ name: 'core', sshAuthorizedKeys: keys }] } },
});
const base = machineConfig('40-base', 'worker', withFile('/etc/a', 'a'));

describe('the origin of a change', () => {
  it.each<[string, MachineConfig, MachineConfig, object]>([
    [
      'of a file is the MachineConfig that sets its contents, and the one that did before',
      machineConfig('50-x', 'worker', withFile('/etc/b', 'b')),
      machineConfig('60-y', 'worker', withFile('/etc/b', 'c')),
      { what: 'file /etc/b', from: ['60-y'], was: ['50-x'] },
    ],
    [
      'of a removed file is the MachineConfig that had it',
      machineConfig('50-x', 'worker', withFile('/etc/b', 'b')),
      machineConfig('50-x', 'worker', {}),
      { what: 'file /etc/b', from: [], was: ['50-x'] },
    ],
    [
      'of a key is the MachineConfig that sets it',
      machineConfig('50-x', 'worker', withKeys('ssh-ed25519 AAAA one')),
      machineConfig('60-y', 'worker', withKeys('ssh-ed25519 BBBB two')),
      { what: 'user core', from: ['60-y'], was: ['50-x'] },
    ],
    [
      'of an OS image is the MachineConfig that replaces that of the platform',
      machineConfig('50-x', 'worker', {}),
      machineConfig('50-x', 'worker', { osImageURL: 'os:2' }),
      { what: 'machine settings', from: ['50-x'], was: ['(platform)'] },
    ],
  ])('%s', async (_, old, now, expected) => {
    expect(await listOrigins(await render([base, old]), await render([base, now]))).toEqual([expected]);
  });

  it('is the platform if no MachineConfig sets it', async () => {
    expect(await listOrigins(await render([base]), await render([base], 'os:2'))).toEqual([
      { what: 'machine settings', from: ['(platform)'], was: ['(platform)'] },
    ]);
  });

  it('is empty if the sources of a config are not known', async () => {
    const now = await render([machineConfig('40-base', 'worker', withFile('/etc/a', 'b'))]);
    expect(await listOrigins(await render([base]), now, false)).toEqual([
      { what: 'file /etc/a', from: ['40-base'], was: [] },
    ]);
  });
});
