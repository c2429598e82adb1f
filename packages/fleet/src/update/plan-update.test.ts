import { encodeDataUrl, gzip } from '@slipway/ignition';
import { describe, expect, it } from 'vitest';
import { dataUrl, file, ignition, withFiles } from '../render/testing/sample.ts';
import { plan, type Spec } from './testing/sample-plan.ts';

const units = (...list: object[]): Spec => ({ config: ignition({ systemd: { units: list } }) });
const users = (...list: object[]): Spec => ({ config: ignition({ passwd: { users: list } }) });
const raw = (more: object): Spec => ({ config: ignition({ storage: { files: [{ path: '/a', ...more }] } }) });
const root = { user: { id: 0 }, group: { id: 0 } };
const sha256 = async (text: string) =>
  new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))).toHex();

describe('a plan is empty', () => {
  it.each<[string, () => Promise<[Spec, Spec]>]>([
    [
      'for contents in another encoding',
      async () => [raw({ contents: { source: 'data:,a%0A' } }), raw({ contents: { source: 'data:;base64,YQo=' } })],
    ],
    [
      'for compressed contents',
      async () => {
        const source = encodeDataUrl(await gzip(new TextEncoder().encode('a\n')));
        return [raw({ contents: { source: dataUrl('a\n') } }), raw({ contents: { source, compression: 'gzip' } })];
      },
    ],
    [
      'for contents in two parts',
      async () => [
        raw({ contents: { source: 'data:,ab' } }),
        raw({ contents: { source: 'data:,a' }, append: [{ source: 'data:,b' }] }),
      ],
    ],
    [
      'for an explicit default',
      async () => [raw({ contents: { source: '' } }), raw({ contents: { source: '' }, mode: 0o644, user: { id: 0 } })],
    ],
    [
      'for files in another order',
      async () => [withFiles(file('/a', ''), file('/b', '')), withFiles(file('/b', ''), file('/a', ''))],
    ],
    [
      'for units in another order',
      async () => [
        units({ name: 'a.service', enabled: true }, { name: 'b.service', enabled: false }),
        units({ name: 'b.service', enabled: false }, { name: 'a.service', enabled: true }),
      ],
    ],
    [
      'for a unit that is a file elsewhere in the config',
      async () => [
        withFiles(file('/etc/systemd/system/a.service', '[Unit]\n')),
        units({ name: 'a.service', contents: '[Unit]\n' }),
      ],
    ],
    [
      'for explicit default settings',
      async () => [{}, { kernelType: 'default', fips: false, extensions: [], kernelArguments: [], osImageURL: '' }],
    ],
    [
      'for an older spec version',
      async () => [{ config: { ignition: { version: '3.2.0' } } }, { config: ignition({}) }],
    ],
    [
      'for what only matters while Ignition runs',
      async () => [{}, { config: { ignition: { version: '3.5.0', timeouts: { httpTotal: 5 } } } }],
    ],
    ['for core without any settings', async () => [{}, users({ name: 'core', shouldExist: true })]],
    [
      'for a state that already exists',
      async () => [users({ name: 'eve' }), users({ name: 'eve', shouldExist: true, system: false })],
    ],
  ])('%s', async (_, configs) => {
    const [current, desired] = await configs();
    expect(await plan(current, desired)).toEqual({
      from: 'rendered-worker-a',
      to: 'rendered-worker-b',
      isEmpty: true,
      changes: [],
      irreconcilable: [],
      tolerated: [],
      actions: [],
      needsDrain: false,
      causes: [],
    });
  });
});

describe('changes', () => {
  it('of a file list what differs, and refer to the contents', async () => {
    const current = withFiles(file('/a', 'one\n'), file('/b', 'x'), file('/gone', 'y'));
    const desired = withFiles(file('/a', 'two!\n', { mode: 0o600, user: { name: 'core' } }), file('/b', 'x'));
    const state = { kind: 'file', of: 'file', keepsExisting: false };
    const before = { ...state, ...root, mode: 0o644 };
    expect((await plan(current, desired)).changes).toEqual([
      {
        kind: 'path',
        path: '/gone',
        change: 'removed',
        differs: [],
        before: { ...before, contents: { sha256: await sha256('y'), size: 1 } },
        after: null,
        secret: false,
      },
      {
        kind: 'path',
        path: '/a',
        change: 'changed',
        differs: ['contents', 'mode', 'owner'],
        before: { ...before, contents: { sha256: await sha256('one\n'), size: 4 } },
        after: {
          ...state,
          mode: 0o600,
          user: { name: 'core' },
          group: { id: 0 },
          contents: { sha256: await sha256('two!\n'), size: 5 },
        },
        secret: true,
      },
    ]);
  });

  it('remove from the deepest path up, then add from the top down', async () => {
    const current = withFiles(file('/x/y/z', ''), file('/x/y', ''), file('/b', ''));
    const desired = withFiles(file('/b/c/d', ''), file('/b/c', ''), file('/x', ''));
    const { changes } = await plan(current, desired);
    expect(changes.map((change) => 'path' in change && `${change.change} ${change.path}`)).toEqual([
      'removed /x/y/z',
      'removed /x/y',
      'removed /b',
      'added /b/c',
      'added /b/c/d',
      'added /x',
    ]);
  });

  it('of a unit come after those of its files', async () => {
    const current = units(
      { name: 'a.service', enabled: true, contents: '[Unit]\n' },
      { name: 'b.service', mask: false },
    );
    const desired = units(
      { name: 'a.service', mask: true, dropins: [{ name: 'x.conf', contents: '' }] },
      { name: 'b.service', enabled: false },
    );
    expect((await plan(current, desired)).changes).toMatchObject([
      {
        path: '/etc/systemd/system/a.service',
        differs: ['kind'],
        before: { kind: 'file', of: 'unit' },
        after: { kind: 'link', of: 'mask', target: '/dev/null' },
      },
      { path: '/etc/systemd/system/a.service.d/x.conf', change: 'added', after: { of: 'drop-in' } },
      {
        kind: 'unit',
        unit: 'a.service',
        rewritten: true,
        before: { enabled: 'enabled', unmasked: false },
        after: { enabled: 'preset', unmasked: false },
      },
      {
        kind: 'unit',
        unit: 'b.service',
        rewritten: false,
        before: { enabled: 'preset', unmasked: true },
        after: { enabled: 'disabled', unmasked: false },
      },
    ]);
  });

  it('of a unit are listed even if it stays enabled, because its WantedBy may have changed', async () => {
    const unit = (wantedBy: string) =>
      units({ name: 'a.service', enabled: true, contents: `[Install]\nWantedBy=${wantedBy}\n` });
    const { changes } = await plan(unit('a.target'), unit('b.target'));
    const enabled = { enabled: 'enabled', unmasked: false };
    expect(changes[1]).toEqual({ kind: 'unit', unit: 'a.service', rewritten: true, before: enabled, after: enabled });
  });

  it('of instances of a template are listed separately', async () => {
    const current = units({ name: 'e@1.service', enabled: true }, { name: 'e@2.service', enabled: true });
    const desired = units({ name: 'e@1.service', enabled: true }, { name: 'e@2.service', enabled: false });
    expect((await plan(current, desired)).changes).toMatchObject([
      { unit: 'e@2.service', after: { enabled: 'disabled' } },
    ]);
  });

  it('of core are keys and password', async () => {
    const current = users({
      name: 'core',
      sshAuthorizedKeys: ['ssh-ed25519 A', 'ssh-ed25519 B'],
      passwordHash: '$6$x',
    });
    const desired = users({ name: 'core', sshAuthorizedKeys: ['ssh-ed25519 B', 'ssh-ed25519 C'] });
    expect((await plan(current, desired)).changes).toMatchObject([
      {
        kind: 'ssh keys',
        added: ['ssh-ed25519 C'],
        removed: ['ssh-ed25519 A'],
        before: { size: 28 },
        after: { size: 28 },
      },
      { kind: 'password', before: 'set', after: 'none' },
    ]);
  });

  it('of the OS come last, the image first', async () => {
    const current: Spec = { osImageURL: 'os:1', extensions: ['ipsec', 'usbguard'], kernelArguments: ['quiet'] };
    const desired: Spec = {
      ...withFiles(file('/a', '')),
      osImageURL: 'os:2',
      baseOSExtensionsContainerImage: 'ext:2',
      kernelType: 'realtime',
      extensions: ['usbguard', 'kerberos'],
      kernelArguments: ['quiet', 'nosmt'],
    };
    expect((await plan(current, desired)).changes).toMatchObject([
      { kind: 'path' },
      { kind: 'setting', setting: 'osImageURL', before: 'os:1', after: 'os:2' },
      { kind: 'setting', setting: 'baseOSExtensionsContainerImage', before: '', after: 'ext:2' },
      { kind: 'kernel arguments', removed: [], added: ['nosmt'] },
      { kind: 'setting', setting: 'kernelType', before: 'default', after: 'realtime' },
      { kind: 'extensions', removed: ['ipsec'], added: ['kerberos'] },
    ]);
  });
});

describe('a plan', () => {
  it('contains no contents and no password hash', async () => {
    const secrets = (secret: string): Spec => ({
      config: ignition({
        storage: {
          files: [file('/etc/a', `contents-${secret}`, { mode: 0o600 })],
          luks: [{ name: 'l', device: '/dev/c', keyFile: { source: dataUrl(`luks-${secret}`) } }],
        },
        systemd: { units: [{ name: 'a.service', contents: `# unit-${secret}\n` }] },
        passwd: {
          users: [
            { name: 'core', passwordHash: `core-${secret}` },
            { name: 'eve', passwordHash: `eve-${secret}` },
          ],
          groups: [{ name: 'g', passwordHash: `group-${secret}` }],
        },
      }),
    });
    const text = JSON.stringify(await plan(secrets('one'), secrets('two')));
    expect(text).toContain('"/etc/a"');
    expect(text).not.toMatch(/(?:contents|luks|unit|core|eve|group)-(?:one|two)/);
  });

  it('is plain data that survives JSON', async () => {
    const made = await plan(withFiles(file('/a', 'x')), { ...units({ name: 'a.service', mask: true }), fips: true });
    expect(JSON.parse(JSON.stringify(made))).toEqual(made);
  });

  it.each([
    ['of an unknown spec version', { ignition: { version: '3.99.0' } }],
    ['that breaks a rule', ignition({ storage: { files: [{ path: 'relative' }] } })],
    [
      'with remote contents',
      ignition({ storage: { files: [{ path: '/a', contents: { source: 'https://example.com/' } }] } }),
    ],
  ])('does not exist for a config %s', async (_, config) => {
    await expect(plan({}, { config })).rejects.toMatchObject({
      code: 'SLW_UPDATE_CONFIG',
      message: expect.stringContaining('MachineConfig rendered-worker-b, spec.config.'),
    });
  });
});

describe('a plan from a config with a path that is reserved now', () => {
  it('removes the path: a machine with an older rendered config must be able to leave it', async () => {
    for (const path of ['/etc/kubernetes/ca.crt', '/etc/machine-config-daemon/daemon.json']) {
      const { changes } = await plan(withFiles(file(path, 'x')), withFiles());
      expect(changes).toMatchObject([{ kind: 'path', path, after: null }]);
    }
  });
});
