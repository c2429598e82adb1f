import { describe, expect, it } from 'vitest';
import { explain } from './explain.ts';
import { file, ignition, machineConfig, renderOk } from './render/testing/sample.ts';

const base = machineConfig('10-base', {
  config: ignition({
    storage: { files: [file('/etc/chrony.conf', 'old', { user: { name: 'root' } }), file('/etc/motd', 'hello')] },
    systemd: {
      units: [{ name: 'app.service', contents: '[Unit]\n', dropins: [{ name: '10-a.conf', contents: 'a' }] }],
    },
    passwd: {
      users: [{ name: 'core', passwordHash: '$6$secret', sshAuthorizedKeys: ['ssh-ed25519 AAAAKEY anna@desk'] }],
    },
  }),
  kernelArguments: ['nosmt'],
  kernelType: 'realtime',
  extensions: ['usbguard'],
});
const team = machineConfig('20-team', {
  config: ignition({
    storage: { files: [file('/etc/chrony.conf', 'new', { mode: 0o600 })] },
    systemd: { units: [{ name: 'app.service', enabled: true, dropins: [{ name: '10-a.conf', contents: 'bb' }] }] },
  }),
  kernelArguments: ['quiet'],
  kernelType: '64k-pages',
  extensions: ['ipsec', 'usbguard'],
  fips: true,
});

const about = async (path?: string, showSecrets = false) =>
  explain(await renderOk([base, team]), path, { showSecrets });

describe('explain', () => {
  it('reports for a file which MachineConfig set it, what it overrode, and the origin of each field', async () => {
    expect(await about('/etc/chrony.conf')).toEqual([
      {
        noun: 'file',
        name: '/etc/chrony.conf',
        setBy: '20-team',
        overrode: ['10-base'],
        fields: expect.arrayContaining([
          { name: 'contents.source', value: '3 bytes', from: '20-team', overrode: ['10-base'] },
          { name: 'mode', value: '0600', from: '20-team', overrode: ['10-base'] },
          { name: 'user.name', value: 'root', from: '10-base', overrode: [] },
        ]),
      },
    ]);
  });

  it('finds a unit with its drop-ins, and a user with the keys', async () => {
    expect(await about('app.service')).toMatchObject([
      { noun: 'unit', name: 'app.service', setBy: '20-team' },
      { noun: 'drop-in', name: 'app.service.d/10-a.conf', setBy: '20-team', overrode: ['10-base'] },
    ]);
    expect((await about('core')).map(({ noun, name, setBy }) => [noun, name, setBy])).toEqual([
      ['user', 'core', '10-base'],
      ['ssh key', 'core ssh-ed25519 …AAAAKEY anna@desk', '10-base'],
    ]);
  });

  it('covers arguments, extensions, the kernel and FIPS', async () => {
    const all = (await about()).map(({ noun, name, setBy, overrode }) => [noun, name, setBy].concat(overrode));
    expect(all).toEqual(
      expect.arrayContaining([
        ['kernel argument', 'nosmt', '10-base'],
        ['kernel argument', 'quiet', '20-team'],
        ['extension', 'ipsec', '20-team'],
        ['extension', 'usbguard', '10-base'],
        ['kernel type', '64k-pages', '20-team', '10-base'],
        ['FIPS mode', 'true', '20-team'],
      ]),
    );
  });

  it('covers everything in the provenance, without duplicates except arguments', async () => {
    const all = await about();
    expect(new Set(all.map(({ noun, name }) => `${noun} ${name}`)).size).toBe(all.length);
    const { provenance } = await renderOk([base, team]);
    const fields = all.reduce((sum, thing) => sum + thing.fields.length, 0);
    expect(fields).toBe(provenance.config.size - 1); // all but the spec version
  });

  it('hides secrets by default', async () => {
    expect(JSON.stringify(await about())).not.toContain('$6$secret');
    expect(JSON.stringify(await about('core', true))).toContain('$6$secret');
  });

  it('is empty for an unknown path', async () => {
    expect(await about('/etc/other')).toEqual([]);
  });
});
