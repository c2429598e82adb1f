import { describe, expect, it } from 'vitest';
import { parse } from '../parse.ts';
import type { SpecVersion2 } from '../version.ts';
import { validate } from './index.ts';

const HASH256 = `sha256-${'0'.repeat(64)}`;

function found(version: SpecVersion2, sections: Record<string, unknown>, kind = 'error'): string[] {
  const { ignition, ...rest } = sections;
  const { config, report } = parse({ ignition: { ...(ignition as object), version }, ...rest });
  if (config === null) throw new Error(JSON.stringify(report));
  return validate(config)
    .filter((entry) => entry.kind === kind)
    .map(({ path }) => path);
}

const file = (fields: object) => ({ storage: { files: [{ filesystem: 'root', path: '/a', mode: 420, ...fields }] } });
const disk = (...partitions: object[]) => ({ storage: { disks: [{ device: '/dev/sda', partitions }] } });
const filesystem = (fields: object) => ({ storage: { filesystems: [{ name: 'data', ...fields }] } });
const mount = (fields: object) => filesystem({ mount: { device: '/dev/sda', format: 'ext4', ...fields } });

describe('a 2.x config is valid', () => {
  it.each<[string, SpecVersion2, Record<string, unknown>]>([
    ['with nothing in it', '2.2.0', {}],
    ['with a path that is not in its shortest form', '2.4.0', file({ path: '/a//b' })],
    [
      'with a path twice',
      '2.4.0',
      {
        storage: {
          directories: [
            { filesystem: 'root', path: '/a' },
            { filesystem: 'root', path: '/a' },
          ],
        },
      },
    ],
    ['with an empty source', '2.4.0', file({ contents: { source: '' } })],
    ['with an oem source', '2.4.0', file({ contents: { source: 'oem:///a' } })],
    [
      'with the same partition twice in 2.2, which is one',
      '2.2.0',
      disk({ start: 2048, size: 2048 }, { start: 2048, size: 2048 }),
    ],
    ['with a raid array without devices', '2.4.0', { storage: { raid: [{ name: 'md0', level: 'raid1' }] } }],
    ['with a label with a colon', '2.4.0', disk({ label: 'a:b' })],
  ])('%s (%s)', (_, version, sections) => {
    expect(found(version, sections)).toEqual([]);
  });
});

describe('a 2.x config is not valid', () => {
  it.each<[string, SpecVersion2, Record<string, unknown>, string[]]>([
    ['a file has no filesystem', '2.2.0', file({ filesystem: '' }), ['storage.files[0].filesystem']],
    ['a path is relative', '2.2.0', file({ path: 'a' }), ['storage.files[0].path']],
    ['a mode is too large', '2.2.0', file({ mode: 0o10000 }), ['storage.files[0].mode']],
    ['an owner has id and name', '2.2.0', file({ user: { id: 0, name: 'root' } }), ['storage.files[0].user']],
    ['a file is overwritten and appended to', '2.2.0', file({ append: true, overwrite: true }), ['storage.files[0]']],
    [
      'a source has a newer scheme',
      '2.4.0',
      file({ contents: { source: 'gs://b/k' } }),
      ['storage.files[0].contents.source'],
    ],
    [
      'a compression is unknown',
      '2.4.0',
      file({ contents: { compression: 'xz' } }),
      ['storage.files[0].contents.compression'],
    ],
    [
      'a hash is sha256',
      '2.4.0',
      file({ contents: { verification: { hash: HASH256 } } }),
      ['storage.files[0].contents.verification.hash'],
    ],
    [
      'headers have no http source',
      '2.4.0',
      file({ contents: { httpHeaders: [{ name: 'A', value: 'b' }] } }),
      ['storage.files[0].contents.httpHeaders'],
    ],
    [
      'a header stands twice',
      '2.4.0',
      { ignition: { config: { append: [{ source: 'http://a', httpHeaders: [{ name: 'A' }, { name: 'A' }] }] } } },
      ['ignition.config.append[0].httpHeaders[1].name'],
    ],
    [
      'a header has no name',
      '2.4.0',
      { ignition: { config: { replace: { source: 'http://a', httpHeaders: [{}] } } } },
      ['ignition.config.replace.httpHeaders[0].name'],
    ],
    ['a disk has no device', '2.2.0', { storage: { disks: [{}] } }, ['storage.disks[0].device']],
    [
      'a partition number stands twice',
      '2.2.0',
      disk({ number: 1 }, { number: 1 }),
      ['storage.disks[0].partitions[1]'],
    ],
    [
      'partitions overlap',
      '2.2.0',
      disk({ start: 2048, size: 4096 }, { start: 4096, size: 2048 }),
      ['storage.disks[0].partitions[1]'],
    ],
    ['a partition is not aligned', '2.3.0', disk({ number: 1, start: 5 }), ['storage.disks[0].partitions']],
    [
      'sectors and MiB are mixed',
      '2.3.0',
      disk({ number: 1, start: 0 }, { number: 2, sizeMiB: 1 }),
      ['storage.disks[0].partitions'],
    ],
    [
      'a partition without number stands beside one that should not exist',
      '2.3.0',
      disk({ label: 'a' }, { number: 2, shouldExist: false }),
      ['storage.disks[0].partitions'],
    ],
    [
      'a partition that should not exist is described',
      '2.4.0',
      disk({ number: 1, shouldExist: false, label: 'a' }),
      ['storage.disks[0].partitions[0]'],
    ],
    ['a GUID is none', '2.4.0', disk({ typeGuid: 'x' }), ['storage.disks[0].partitions[0].typeGuid']],
    ['a filesystem has neither mount nor path', '2.2.0', filesystem({}), ['storage.filesystems[0]']],
    [
      'a filesystem has mount and path',
      '2.2.0',
      filesystem({ path: '/', mount: { device: '/dev/sda', format: 'xfs' } }),
      ['storage.filesystems[0]'],
    ],
    ['a format is unknown', '2.2.0', mount({ format: 'none' }), ['storage.filesystems[0].mount.format']],
    [
      'create stands beside what replaced it',
      '2.2.0',
      mount({ create: {}, wipeFilesystem: true, options: ['-q'] }),
      ['storage.filesystems[0].mount.wipeFilesystem', 'storage.filesystems[0].mount.options'],
    ],
    [
      'a user is created twice over',
      '2.2.0',
      { passwd: { users: [{ name: 'a', create: {}, uid: 0 }] } },
      ['passwd.users[0].uid'],
    ],
    ['a unit has no known type', '2.2.0', { systemd: { units: [{ name: 'a' }] } }, ['systemd.units[0].name']],
    [
      'a network unit has no known type',
      '2.2.0',
      { networkd: { units: [{ name: 'a.service', dropins: [{ name: 'b' }] }] } },
      ['networkd.units[0].name', 'networkd.units[0].dropins[0].name'],
    ],
    [
      'a raid level is unknown',
      '2.2.0',
      { storage: { raid: [{ name: 'a', level: '2', devices: ['x'] }] } },
      ['storage.raid[0].level', 'storage.raid[0].devices[0]'],
    ],
  ])('when %s (%s)', (_, version, sections, errors) => {
    expect(found(version, sections)).toEqual(errors);
  });
});

it.each<[string, Record<string, unknown>, string[]]>([
  [
    'a mode is not set',
    { storage: { directories: [{ filesystem: 'root', path: '/a' }] } },
    ['storage.directories[0].mode'],
  ],
  ['a filesystem is not in the config', file({ filesystem: 'data' }), ['storage.files[0].filesystem']],
  ['create is used', mount({ create: {} }), ['storage.filesystems[0].mount.create']],
])('a 2.x config is valid, with a warning, when %s', (_, sections, warnings) => {
  expect(found('2.4.0', sections, 'warning')).toEqual(warnings);
});
