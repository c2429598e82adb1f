import { describe, expect, it } from 'vitest';
import { dataUrl, file, ignition, withFiles } from '../render/testing/sample.ts';
import { plan, type Spec } from './testing/sample-plan.ts';

const storage = (sections: object): Spec => ({ config: ignition({ storage: sections }) });
const passwd = (sections: object): Spec => ({ config: ignition({ passwd: sections }) });
const core = (fields: object): Spec => passwd({ users: [{ name: 'core', ...fields }] });
const disk = (fields: object) => storage({ disks: [{ device: '/dev/sda', ...fields }] });
const appended = (more: object = {}) =>
  storage({ files: [{ path: '/a', append: [{ source: dataUrl('x') }], ...more }] });
const raid = { name: 'md', level: 'raid1', devices: ['/dev/a', '/dev/b'] };
const luks = (key: string) => ({ name: 'l', device: '/dev/c', keyFile: { source: dataUrl(key) } });

describe('a running machine cannot become', () => {
  it.each<[string, Spec, Spec, { field: string; before: string | null; after: string | null }]>([
    [
      'one with another partition table',
      disk({}),
      disk({ wipeTable: true }),
      { field: 'storage.disks[/dev/sda].wipeTable', before: null, after: 'true' },
    ],
    ['one with another disk', {}, disk({}), { field: 'storage.disks[/dev/sda]', before: null, after: 'disk' }],
    [
      'one without a RAID',
      storage({ raid: [raid] }),
      {},
      { field: 'storage.raid[md]', before: 'devices: /dev/a, devices: /dev/b, level: raid1', after: null },
    ],
    [
      'one with another filesystem',
      storage({ filesystems: [{ device: '/dev/a', format: 'xfs' }] }),
      storage({ filesystems: [{ device: '/dev/a', format: 'ext4' }] }),
      { field: 'storage.filesystems[/dev/a].format', before: 'xfs', after: 'ext4' },
    ],
    [
      'one with another LUKS key, which is hidden',
      storage({ luks: [luks('one')] }),
      storage({ luks: [luks('two')] }),
      { field: 'storage.luks[l].keyFile', before: '(hidden)', after: '(hidden), changed' },
    ],
    [
      'one with another group',
      {},
      passwd({ groups: [{ name: 'g', gid: 7 }] }),
      { field: 'passwd.groups[g]', before: null, after: 'gid: 7' },
    ],
    [
      'one with another user',
      {},
      passwd({ users: [{ name: 'eve', passwordHash: '$6$x' }] }),
      { field: 'passwd.users[eve]', before: null, after: 'passwordHash: (hidden)' },
    ],
    [
      'one where core has another shell',
      core({ shell: '/bin/sh' }),
      core({ shell: '/bin/zsh' }),
      { field: 'passwd.users[core].shell', before: '/bin/sh', after: '/bin/zsh' },
    ],
    [
      'one where core is in another group',
      {},
      core({ groups: ['wheel'] }),
      { field: 'passwd.users[core]', before: null, after: 'groups: wheel' },
    ],
    [
      'one without core',
      {},
      core({ shouldExist: false }),
      { field: 'passwd.users[core]', before: null, after: 'shouldExist: false' },
    ],
    [
      'one with other kernel arguments of Ignition',
      {},
      { config: ignition({ kernelArguments: { shouldExist: ['a'] } }) },
      { field: 'kernelArguments.shouldExist', before: null, after: 'a' },
    ],
    [
      'one with another directory',
      {},
      storage({ directories: [{ path: '/d', mode: 0o700 }] }),
      { field: 'storage.directories[/d]', before: null, after: 'directory, 0700' },
    ],
    [
      'one with another mode of a directory',
      storage({ directories: [{ path: '/d' }] }),
      storage({ directories: [{ path: '/d', mode: 0o700 }] }),
      { field: 'storage.directories[/d]', before: 'directory, 0755', after: 'directory, 0700' },
    ],
    [
      'one with another link',
      {},
      storage({ links: [{ path: '/l', target: '/x' }] }),
      { field: 'storage.links[/l]', before: null, after: 'link to /x' },
    ],
    [
      'one with another hard link',
      {},
      storage({ links: [{ path: '/l', target: '/x', hard: true }] }),
      { field: 'storage.links[/l]', before: null, after: 'hard link to /x' },
    ],
    [
      'one with more in a file of the OS',
      {},
      appended(),
      { field: 'storage.files[/a].append', before: null, after: 'file, 0644, 1 bytes' },
    ],
    [
      'one without what was appended to a file of the OS',
      appended(),
      {},
      { field: 'storage.files[/a].append', before: 'file, 0644, 1 bytes', after: null },
    ],
  ])('%s', async (_, current, desired, expected) => {
    const { irreconcilable, isEmpty } = await plan(current, desired);
    expect(irreconcilable).toMatchObject([
      { ...expected, field: `spec.config.${expected.field}`, code: 'SLW_UPDATE_IRRECONCILABLE' },
    ]);
    expect(isEmpty).toBe(false);
  });

  it('one with FIPS mode, and the message explains what to do', async () => {
    expect((await plan({}, { fips: true })).irreconcilable).toEqual([
      {
        code: 'SLW_UPDATE_IRRECONCILABLE',
        field: 'spec.fips',
        before: 'false',
        after: 'true',
        message:
          'MachineConfig rendered-worker-b, spec.fips: FIPS mode is fixed at installation (false → true). ' +
          'Set it to false again, or reinstall the machine',
      },
    ]);
  });

  it('long values are truncated', async () => {
    const users = [{ name: 'eve', gecos: 'e'.repeat(100_000) }];
    const [found] = (await plan({}, passwd({ users }))).irreconcilable;
    expect(found?.message.length).toBeLessThan(800);
  });
});

describe('a running machine can become', () => {
  it.each<[string, Spec, Spec]>([
    ['one without a directory', storage({ directories: [{ path: '/d' }] }), {}],
    ['one without a link', storage({ links: [{ path: '/l', target: '/x' }] }), {}],
    ['one with a file where a link was', storage({ links: [{ path: '/l', target: '/x' }] }), withFiles(file('/l', ''))],
    ['one with core’s keys and password', {}, core({ sshAuthorizedKeys: ['ssh-ed25519 A'], passwordHash: '$6$x' })],
    ['one without anything about core', core({ sshAuthorizedKeys: ['ssh-ed25519 A'] }), {}],
    ['one with a masked unit', {}, { config: ignition({ systemd: { units: [{ name: 'a.service', mask: true }] } }) }],
    [
      'one whose file has contents and appended text',
      withFiles(file('/a', '')),
      appended({ contents: { source: dataUrl('y') } }),
    ],
    [
      'one whose file has complete contents instead of text appended to that of the OS',
      appended(),
      withFiles(file('/a', 'x')),
    ],
  ])('%s', async (_, current, desired) => {
    const { irreconcilable, isEmpty } = await plan(current, desired);
    expect(irreconcilable).toEqual([]);
    expect(isEmpty).toBe(false);
  });
});
