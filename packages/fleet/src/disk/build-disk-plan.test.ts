import { encodeDataUrl, gzip } from '@slipway/ignition';
import { describe, expect, it } from 'vitest';
import { ignition, readInput, machineConfig } from '../render/testing/sample.ts';
import { buildDiskPlan } from './build-disk-plan.ts';
import type { DiskEntry } from './disk-plan.ts';

const planFor = async (sections: object) =>
  buildDiskPlan((await readInput(machineConfig('a', { config: ignition(sections) }))).config);
const bytes = (text: string) => new TextEncoder().encode(text);
const root = { user: { id: 0 }, group: { id: 0 } };

describe('on the disk', () => {
  it('a file has its bytes, mode and owner, or 0644 and root', async () => {
    const files = [
      { path: '/etc/b', mode: 0o600, user: { id: 7 }, group: { name: 'wheel' }, contents: { source: 'data:,b%0A' } },
      { path: '/etc/a', contents: { source: 'data:;base64,AAE=' } },
    ];
    expect((await planFor({ storage: { files } })).entries).toEqual([
      {
        kind: 'file',
        path: '/etc/a',
        mode: 0o644,
        ...root,
        bytes: new Uint8Array([0, 1]),
        keepsExisting: false,
        of: 'file',
      },
      {
        kind: 'file',
        path: '/etc/b',
        mode: 0o600,
        user: { id: 7 },
        group: { name: 'wheel' },
        bytes: bytes('b\n'),
        keepsExisting: false,
        of: 'file',
      },
    ]);
  });

  it('compressed contents are decompressed, and appended text follows them', async () => {
    const packed = { source: encodeDataUrl(await gzip(bytes('one\n'))), compression: 'gzip' };
    const files = [{ path: '/a', contents: packed, append: [{ source: 'data:,two%0A' }, packed] }];
    expect((await planFor({ storage: { files } })).entries).toMatchObject([{ bytes: bytes('one\ntwo\none\n') }]);
  });

  it('a file without contents appends to the existing one', async () => {
    const files = [
      { path: '/a', append: [{ source: 'data:,more' }] },
      { path: '/b', mode: 0o600 },
    ];
    expect((await planFor({ storage: { files } })).entries).toMatchObject([
      { path: '/a', bytes: bytes('more'), keepsExisting: true },
      { path: '/b', bytes: bytes(''), keepsExisting: true },
    ]);
  });

  it('an empty source is an empty file', async () => {
    const files = [{ path: '/a', contents: { source: '' } }];
    expect((await planFor({ storage: { files } })).entries).toMatchObject([{ bytes: bytes(''), keepsExisting: false }]);
  });

  it('directories have mode 0755 by default; spec 3.5 sets no sticky bit', async () => {
    const directories = [{ path: '/a' }, { path: '/b', mode: 0o1770, overwrite: true, user: { name: 'core' } }];
    expect((await planFor({ storage: { directories } })).entries).toEqual([
      { kind: 'directory', path: '/a', mode: 0o755, ...root, keepsExisting: true },
      { kind: 'directory', path: '/b', mode: 0o770, ...root, user: { name: 'core' }, keepsExisting: false },
    ]);
  });

  it('links keep their target unchanged', async () => {
    const links = [
      { path: '/soft', target: '../x' },
      { path: '/hard', target: '/x', hard: true },
    ];
    expect((await planFor({ storage: { links } })).entries).toEqual([
      { kind: 'hard link', path: '/hard', target: '/x' },
      { kind: 'link', path: '/soft', target: '../x', ...root, of: 'link' },
    ]);
  });

  it('a unit is a file in the systemd directory, with its drop-ins next to it', async () => {
    const units = [
      { name: 'a.service', contents: '[Unit]\n', dropins: [{ name: '10-x.conf', contents: '[Service]\n' }] },
      { name: 'only-dropins.service', dropins: [{ name: 'empty.conf', contents: '' }, { name: 'none.conf' }] },
      { name: 'no-contents.service', enabled: true },
      { name: 'empty.service', contents: '' },
    ];
    const { entries } = await planFor({ systemd: { units } });
    const told = (entry: DiskEntry) => entry.kind === 'file' && [entry.path, entry.of, entry.mode, entry.bytes.length];
    expect(entries.map(told)).toEqual([
      ['/etc/systemd/system/a.service', 'unit', 0o644, 7],
      ['/etc/systemd/system/a.service.d/10-x.conf', 'drop-in', 0o644, 10],
      ['/etc/systemd/system/only-dropins.service.d/empty.conf', 'drop-in', 0o644, 0],
    ]);
  });

  it('a masked unit is a link to /dev/null in place of its file, and mask: false removes one', async () => {
    const units = [
      { name: 'gone.service', mask: true, contents: '[Unit]\n' },
      { name: 'back.service', mask: false },
    ];
    const plan = await planFor({ systemd: { units } });
    expect(plan.entries).toEqual([
      { kind: 'link', path: '/etc/systemd/system/gone.service', target: '/dev/null', ...root, of: 'mask' },
    ]);
    expect(plan.unmasked).toEqual(['/etc/systemd/system/back.service']);
  });

  it('presets have a line for each unit that is enabled or disabled, and one for the instances of a template', async () => {
    const units = [
      { name: 'a.service', enabled: true },
      { name: 'echo@one.service', enabled: true },
      { name: 'b.timer', enabled: false },
      { name: 'echo@two.service', enabled: true },
      { name: 'echo@three.service', enabled: false },
      { name: 'unsaid.service' },
    ];
    expect((await planFor({ systemd: { units } })).presets.map(({ line }) => line)).toEqual([
      'enable a.service',
      'enable echo@.service one two',
      'disable b.timer',
      'disable echo@.service three',
    ]);
  });

  it('users have the settings of the config, and their keys below their home', async () => {
    const users = [
      { name: 'core', sshAuthorizedKeys: ['ssh-ed25519 A', 'ssh-ed25519 B'], passwordHash: '$6$x', groups: ['wheel'] },
      { name: 'locked', uid: 1234, shell: '/bin/sh', homeDir: '/srv/locked', passwordHash: '' },
      { name: 'gone', shouldExist: false },
    ];
    expect(await planFor({ passwd: { users, groups: [{ name: 'g', gid: 99 }] } })).toMatchObject({
      users: [
        {
          name: 'core',
          shouldExist: true,
          passwordHash: '$6$x',
          groups: ['wheel'],
          sshKeys: {
            paths: ['.ssh/authorized_keys.d/ignition', '.ssh/authorized_keys'],
            mode: 0o600,
            bytes: bytes('ssh-ed25519 A\nssh-ed25519 B\n'),
          },
        },
        { name: 'locked', uid: 1234, shell: '/bin/sh', homeDir: '/srv/locked', passwordHash: '*' },
        { name: 'gone', shouldExist: false },
      ],
      groups: [{ name: 'g', gid: 99, shouldExist: true }],
    });
  });

  it('kernel arguments of the Ignition config are separate from those of the MachineConfig', async () => {
    const { kernelArguments } = await planFor({ kernelArguments: { shouldExist: ['a'], shouldNotExist: ['b'] } });
    expect(kernelArguments).toEqual({ shouldExist: ['a'], shouldNotExist: ['b'] });
  });
});

describe('there is no plan', () => {
  it.each([
    ['for contents on another server', { source: 'https://example.com/a' }],
    ['for contents that are not gzip as declared', { source: 'data:,text', compression: 'gzip' }],
  ])('%s', async (_, contents) => {
    const config = { ignition: { version: '3.5.0' as const }, storage: { files: [{ path: '/a', contents }] } };
    await expect(buildDiskPlan(config)).rejects.toMatchObject({
      code: 'SLW_DISK_CONTENTS',
      message: expect.stringContaining('file /a'),
    });
  });
});
