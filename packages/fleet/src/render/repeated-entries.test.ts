import { describe, expect, it } from 'vitest';
import { readMachineConfig } from './input.ts';
import { dataUrl, machineConfig } from './testing/sample.ts';

const read = (sections: object, version = '2.2.0') =>
  readMachineConfig(machineConfig('99-x', { config: { ignition: { version }, ...sections } }));
const file = (text: string, more: object = {}) => ({
  filesystem: 'root',
  path: '/etc/a',
  mode: 0o644,
  contents: { source: dataUrl(text) },
  ...more,
});

describe('in spec 2,', () => {
  it('the last of several files with one path wins, with a warning', async () => {
    const result = await read({ storage: { files: [file('one'), file('b', { path: '/etc/b' }), file('two')] } });
    expect(result).toMatchObject({
      ok: true,
      input: {
        config: { storage: { files: [{ path: '/etc/b' }, { path: '/etc/a', contents: { source: 'data:,two' } }] } },
        warnings: [
          {
            code: 'SLW_RENDER_IGNITION',
            field: 'spec.config.storage.files[0]',
            message:
              'MachineConfig 99-x, spec.config.storage.files[0]: storage.files[2] repeats "/etc/a", and wins. Remove one of the two',
          },
        ],
      },
    });
  });

  it('the last of several units with one name wins, and drop-ins add up', async () => {
    const dropin = (name: string, contents: string) => ({ name, contents });
    const result = await read({
      systemd: {
        units: [
          { name: 'a.service', contents: '[Unit]\n', dropins: [dropin('10.conf', '[Unit]\n'), dropin('20.conf', '')] },
          { name: 'a.service', enabled: true, dropins: [dropin('10.conf', '[Service]\n')] },
        ],
      },
    });
    expect(result).toMatchObject({
      ok: true,
      input: { config: { systemd: { units: [{ name: 'a.service', enabled: true }] } } },
    });
    const units = result.ok ? result.input.config.systemd?.units : [];
    expect(units).toHaveLength(1);
    expect(units?.[0]?.contents).toBeUndefined();
    expect(units?.[0]?.dropins).toEqual([dropin('10.conf', '[Service]\n'), { name: '20.conf' }]);
  });

  it('the SSH keys of a user add up', async () => {
    const user = (...keys: string[]) => ({ name: 'core', sshAuthorizedKeys: keys });
    const result = await read({ passwd: { users: [user('a', 'b'), user('c', 'a')] } }, '2.4.0');
    expect(result).toMatchObject({
      ok: true,
      input: { config: { passwd: { users: [{ name: 'core', sshAuthorizedKeys: ['c', 'a', 'b'] }] } } },
    });
  });

  it('a user other than core is accepted, like in spec 3', async () => {
    const sections = { passwd: { users: [{ name: 'admin' }], groups: [{ name: 'admins' }] } };
    for (const version of ['2.2.0', '3.4.0']) expect(await read(sections, version)).toMatchObject({ ok: true });
  });
});

describe('a config is refused if it repeats', () => {
  it.each<[string, object, string?]>([
    ['a file that appends', { storage: { files: [file('one'), file('two', { append: true })] } }],
    [
      'the path of a file for a directory',
      { storage: { files: [file('a')], directories: [{ filesystem: 'root', path: '/etc/a' }] } },
    ],
    [
      'a drop-in of one unit',
      { systemd: { units: [{ name: 'a.service', dropins: [{ name: '1.conf' }, { name: '1.conf' }] }] } },
    ],
    ['a file in spec 3', { storage: { files: [{ path: '/a' }, { path: '/a' }] } }, '3.4.0'],
  ])('%s', async (_, sections, version) => {
    expect(await read(sections, version)).toMatchObject({ ok: false });
  });
});
