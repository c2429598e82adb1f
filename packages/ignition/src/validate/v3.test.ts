import { describe, expect, it } from 'vitest';
import { parse } from '../parse.ts';
import type { SpecVersion } from '../version.ts';
import { validate } from './index.ts';

const HASH256 = `sha256-${'0'.repeat(64)}`;
const HASH512 = `sha512-${'0'.repeat(128)}`;

/** Paths of the errors, or of the warnings, of a config with these sections. */
function found(version: SpecVersion, sections: Record<string, unknown>, kind = 'error'): string[] {
  const { ignition, ...rest } = sections;
  const { config, report } = parse({ ignition: { ...(ignition as object), version }, ...rest });
  if (config === null) throw new Error(JSON.stringify(report));
  return validate(config)
    .filter((entry) => entry.kind === kind)
    .map(({ path }) => path);
}

const files = (...list: object[]) => ({ storage: { files: list } });
const contents = (resource: object) => files({ path: '/a', contents: resource });
const disk = (...partitions: object[]) => ({ storage: { disks: [{ device: '/dev/sda', partitions }] } });
const filesystem = (fields: object) => ({ storage: { filesystems: [{ device: '/dev/sda', ...fields }] } });
const luks = (fields: object) => ({ storage: { luks: [{ name: 'root', device: '/dev/sda', ...fields }] } });
const raid = (fields: object) => ({
  storage: { raid: [{ name: 'md0', devices: ['/dev/sda'], level: 'raid1', ...fields }] },
});
const unit = (fields: object) => ({ systemd: { units: [{ name: 'a.service', ...fields }] } });
const NEWEST = '3.6.0';

describe('a config is valid', () => {
  it.each<[string, SpecVersion, Record<string, unknown>]>([
    ['with nothing in it', '3.0.0', {}],
    ['with an empty source: an empty file', NEWEST, contents({ source: '' })],
    [
      'with every kind of source',
      NEWEST,
      files(
        ...['http://a', 'https://a', 'tftp://a', 's3://b/k', 'gs://b/k', 'arn:aws:s3:::b/k', 'data:,x'].map(
          (source, index) => ({ path: `/${index}`, contents: { source } }),
        ),
      ),
    ],
    ['with both kinds of hash', '3.1.0', contents({ source: 'data:,', verification: { hash: HASH256 } })],
    [
      'with a hash that is no hex: only the length counts',
      NEWEST,
      contents({ source: 'data:,', verification: { hash: `sha256-${'z'.repeat(64)}` } }),
    ],
    ['with an id and an empty name', NEWEST, files({ path: '/a', user: { id: 0, name: '' } })],
    [
      'with a path that only begins like a link',
      NEWEST,
      { storage: { links: [{ path: '/a', target: 'x' }], files: [{ path: '/ab' }] } },
    ],
    ['with the same option twice', NEWEST, filesystem({ format: 'ext4', options: ['-q', '-q'] })],
    [
      'with partitions side by side',
      NEWEST,
      disk({ number: 1, startMiB: 1, sizeMiB: 10 }, { number: 2, startMiB: 11, sizeMiB: 0 }),
    ],
    [
      'with partitions whose place is not said',
      NEWEST,
      disk({ number: 1, startMiB: 0, sizeMiB: 10 }, { label: 'x', sizeMiB: 5 }),
    ],
    ['with a unit that has no contents', NEWEST, unit({ mask: true })],
    [
      'with a hash but no source, for a config in 3.0',
      '3.0.0',
      { ignition: { config: { replace: { verification: { hash: HASH512 } } } } },
    ],
    ['with any clevis pin in 3.6', NEWEST, luks({ clevis: { custom: { pin: 'yubi', config: '{}' } } })],
    ['with a link without a target in 3.2', '3.2.0', { storage: { links: [{ path: '/a', target: '' }] } }],
  ])('%s (%s)', (_, version, sections) => {
    expect(found(version, sections)).toEqual([]);
  });
});

describe('a config is not valid', () => {
  it.each<[string, SpecVersion, Record<string, unknown>, string[]]>([
    // nodes
    ['a path is missing', NEWEST, files({}), ['storage.files[0].path']],
    ['a path is relative', NEWEST, files({ path: 'a' }), ['storage.files[0].path']],
    ['a path is not in its shortest form', NEWEST, files({ path: '/a/../b' }), ['storage.files[0].path']],
    ['a path stands twice', NEWEST, files({ path: '/a' }, { path: '/a' }), ['storage.files[1]']],
    [
      'a path stands in two lists',
      NEWEST,
      { storage: { files: [{ path: '/a' }], directories: [{ path: '/a' }] } },
      ['storage.files[0]'],
    ],
    [
      'a file is below a link',
      NEWEST,
      { storage: { links: [{ path: '/a', target: 'x' }], files: [{ path: '/a/b' }] } },
      ['storage.files[0]'],
    ],
    [
      'a link is below a link',
      NEWEST,
      {
        storage: {
          links: [
            { path: '/a', target: 'x' },
            { path: '/a/b', target: 'y' },
          ],
        },
      },
      ['storage.links[1]'],
    ],
    ['a link has no target', '3.3.0', { storage: { links: [{ path: '/a' }] } }, ['storage.links[0].target']],
    [
      'a hard link points to a directory',
      NEWEST,
      { storage: { links: [{ path: '/b', target: '../a/.', hard: true }], directories: [{ path: '/a' }] } },
      ['storage.links[0]'],
    ],
    ['a mode is negative', NEWEST, files({ path: '/a', mode: -1 }), ['storage.files[0].mode']],
    ['a mode is too large', NEWEST, files({ path: '/a', mode: 0o10000 }), ['storage.files[0].mode']],
    [
      'overwrite has nothing to overwrite with',
      NEWEST,
      files({ path: '/a', overwrite: true }),
      ['storage.files[0].overwrite'],
    ],
    [
      'an owner has id and name',
      NEWEST,
      files({ path: '/a', group: { id: 0, name: 'root' } }),
      ['storage.files[0].group'],
    ],
    [
      'a file has the path of a unit',
      NEWEST,
      { ...files({ path: '/etc/systemd/system/a.service' }), ...unit({ contents: '[Unit]' }) },
      ['storage.files[0].path'],
    ],
    [
      'a link has the path of a drop-in',
      NEWEST,
      {
        storage: { links: [{ path: '/etc/systemd/system/a.service.d/b.conf', target: 'x' }] },
        ...unit({ dropins: [{ name: 'b.conf', contents: '[Unit]' }] }),
      },
      ['storage.links[0].path'],
    ],
    // resources
    ['a source has no scheme', NEWEST, contents({ source: 'a' }), ['storage.files[0].contents.source']],
    ['a source is no URL', NEWEST, contents({ source: 'http://[' }), ['storage.files[0].contents.source']],
    [
      'a source is newer than the spec',
      '3.1.0',
      contents({ source: 'gs://b/k' }),
      ['storage.files[0].contents.source'],
    ],
    [
      'an ARN is newer than the spec',
      '3.3.0',
      contents({ source: 'arn:aws:s3:::b/k' }),
      ['storage.files[0].contents.source'],
    ],
    ['an ARN has no key', NEWEST, contents({ source: 'arn:aws:s3:::b' }), ['storage.files[0].contents.source']],
    [
      'an access point has no key',
      NEWEST,
      contents({ source: 'arn:aws:s3:r:a:accesspoint/x' }),
      ['storage.files[0].contents.source'],
    ],
    ['a versionId is empty', NEWEST, contents({ source: 's3://b/k?versionId=' }), ['storage.files[0].contents.source']],
    ['a data URL is broken', NEWEST, contents({ source: 'data:;base64,x' }), ['storage.files[0].contents.source']],
    [
      'a data URL has a line break',
      NEWEST,
      contents({ source: 'data:;base64,eHh4\neHh4' }),
      ['storage.files[0].contents.source'],
    ],
    [
      'a compression is unknown',
      NEWEST,
      contents({ source: 'data:,', compression: 'xz' }),
      ['storage.files[0].contents.compression'],
    ],
    [
      'a hash has no source',
      NEWEST,
      contents({ verification: { hash: HASH512 } }),
      ['storage.files[0].contents.verification.hash'],
    ],
    [
      'a hash has no function',
      NEWEST,
      contents({ source: 'data:,', verification: { hash: 'abc' } }),
      ['storage.files[0].contents.verification.hash'],
    ],
    [
      'a hash has an unknown function',
      NEWEST,
      contents({ source: 'data:,', verification: { hash: 'md5-abc' } }),
      ['storage.files[0].contents.verification.hash'],
    ],
    [
      'a hash function is newer than the spec',
      '3.0.0',
      contents({ source: 'data:,', verification: { hash: HASH256 } }),
      ['storage.files[0].contents.verification.hash'],
    ],
    [
      'a hash is too short',
      NEWEST,
      contents({ source: 'data:,', verification: { hash: 'sha256-0' } }),
      ['storage.files[0].contents.verification.hash'],
    ],
    [
      'headers go to a data URL',
      NEWEST,
      contents({ source: 'data:,', httpHeaders: [{ name: 'A', value: 'b' }] }),
      ['storage.files[0].contents.httpHeaders'],
    ],
    [
      'a header has no name',
      NEWEST,
      contents({ source: 'http://a', httpHeaders: [{ value: 'b' }] }),
      ['storage.files[0].contents.httpHeaders[0].name'],
    ],
    [
      'a header has an empty value',
      NEWEST,
      contents({ source: 'http://a', httpHeaders: [{ name: 'A', value: '' }] }),
      ['storage.files[0].contents.httpHeaders[0].value'],
    ],
    [
      'a header stands twice',
      NEWEST,
      contents({
        source: 'http://a',
        httpHeaders: [
          { name: 'A', value: 'b' },
          { name: 'A', value: 'c' },
        ],
      }),
      ['storage.files[0].contents.httpHeaders[1]'],
    ],
    ['a merged config has no source', NEWEST, { ignition: { config: { merge: [{}] } } }, ['ignition.config.merge[0]']],
    [
      'a certificate authority has no source',
      '3.0.0',
      { ignition: { security: { tls: { certificateAuthorities: [{}] } } } },
      ['ignition.security.tls.certificateAuthorities[0].source'],
    ],
    ['a proxy is no http URL', NEWEST, { ignition: { proxy: { httpProxy: 'ftp://a' } } }, ['ignition.proxy.httpProxy']],
    // disks
    ['a disk has no device', NEWEST, { storage: { disks: [{}] } }, ['storage.disks[0].device']],
    [
      'a partition number stands twice',
      NEWEST,
      disk({ number: 1 }, { number: 1 }),
      ['storage.disks[0].partitions[1]', 'storage.disks[0].partitions[1]'],
    ],
    [
      'a partition label stands twice',
      NEWEST,
      disk({ number: 1, label: 'a' }, { number: 2, label: 'a' }),
      ['storage.disks[0].partitions[1].label'],
    ],
    [
      'partitions overlap',
      NEWEST,
      disk({ number: 1, startMiB: 1, sizeMiB: 10 }, { number: 2, startMiB: 10, sizeMiB: 1 }),
      ['storage.disks[0].partitions[1]'],
    ],
    ['a partition has neither number nor label', NEWEST, disk({}), ['storage.disks[0].partitions[0]']],
    [
      'a partition that should not exist is described',
      NEWEST,
      disk({ number: 1, shouldExist: false, sizeMiB: 1 }),
      ['storage.disks[0].partitions[0]'],
    ],
    [
      'a partition label is too long in bytes',
      NEWEST,
      disk({ label: 'é'.repeat(19) }),
      ['storage.disks[0].partitions[0].label'],
    ],
    ['a partition label has a colon', NEWEST, disk({ label: 'a:b' }), ['storage.disks[0].partitions[0].label']],
    ['a GUID is none', NEWEST, disk({ number: 1, guid: 'x' }), ['storage.disks[0].partitions[0].guid']],
    // volumes
    [
      'a filesystem has settings but no format',
      NEWEST,
      filesystem({ path: '/var' }),
      ['storage.filesystems[0].format'],
    ],
    [
      'a filesystem has mount options but no format',
      '3.1.0',
      filesystem({ mountOptions: ['ro'] }),
      ['storage.filesystems[0].format'],
    ],
    ['a format is unknown', NEWEST, filesystem({ format: 'zfs' }), ['storage.filesystems[0].format']],
    ['a format is newer than the spec', '3.2.0', filesystem({ format: 'none' }), ['storage.filesystems[0].format']],
    [
      'a filesystem label is too long',
      NEWEST,
      filesystem({ format: 'vfat', label: 'x'.repeat(12) }),
      ['storage.filesystems[0].label'],
    ],
    ['a raid level is unknown', NEWEST, raid({ level: 'raid2' }), ['storage.raid[0].level']],
    ['a raid level is missing', NEWEST, raid({ level: '' }), ['storage.raid[0].level']],
    ['a stripe has spares', NEWEST, raid({ level: 'stripe', spares: 1 }), ['storage.raid[0].level']],
    ['an array has no devices', NEWEST, raid({ devices: [] }), ['storage.raid[0].devices']],
    ['a raid device is relative', NEWEST, raid({ devices: ['sda'] }), ['storage.raid[0].devices[0]']],
    ['a LUKS name has a slash', NEWEST, luks({ name: 'a/b' }), ['storage.luks[0].name']],
    ['a LUKS device is missing', NEWEST, luks({ device: '' }), ['storage.luks[0].device']],
    ['a LUKS label is too long', NEWEST, luks({ label: 'x'.repeat(48) }), ['storage.luks[0].label']],
    ['a LUKS open option stands twice', NEWEST, luks({ openOptions: ['a', 'a'] }), ['storage.luks[0].openOptions[1]']],
    [
      'a custom clevis config stands beside tpm2',
      NEWEST,
      luks({ clevis: { tpm2: true, custom: { pin: 'tang', config: '{}' } } }),
      ['storage.luks[0].clevis'],
    ],
    [
      'an empty custom clevis config stands beside tpm2 in 3.2',
      '3.2.0',
      luks({ clevis: { tpm2: true, custom: {} } }),
      ['storage.luks[0].clevis'],
    ],
    [
      'a custom clevis config has no pin',
      NEWEST,
      luks({ clevis: { custom: { needsNetwork: true } } }),
      ['storage.luks[0].clevis.custom.pin', 'storage.luks[0].clevis.custom.config'],
    ],
    [
      'a clevis pin is newer than the spec',
      '3.5.0',
      luks({ clevis: { custom: { pin: 'yubi', config: '{}' } } }),
      ['storage.luks[0].clevis.custom.pin'],
    ],
    [
      'a tang server has no URL and no thumbprint',
      NEWEST,
      luks({ clevis: { tang: [{}] } }),
      ['storage.luks[0].clevis.tang[0].url', 'storage.luks[0].clevis.tang[0].thumbprint'],
    ],
    [
      'a tang advertisement is no JSON',
      NEWEST,
      luks({ clevis: { tang: [{ url: 'http://t', thumbprint: 'x', advertisement: '{' }] } }),
      ['storage.luks[0].clevis.tang[0].advertisement'],
    ],
    [
      'a tang advertisement has a number beyond all bounds',
      NEWEST,
      luks({ clevis: { tang: [{ url: 'http://t', thumbprint: 'x', advertisement: '[1e999]' }] } }),
      ['storage.luks[0].clevis.tang[0].advertisement'],
    ],
    [
      'cex stands beside clevis and a key file',
      '3.5.0',
      luks({ cex: { enabled: true }, clevis: { tpm2: true }, keyFile: { source: 'data:,' } }),
      ['storage.luks[0].cex', 'storage.luks[0].cex'],
    ],
    ['a key file has a bad source', NEWEST, luks({ keyFile: { source: 'x' } }), ['storage.luks[0].keyFile.source']],
    // the rest
    ['a unit has no known type', NEWEST, unit({ name: 'a.conf' }), ['systemd.units[0].name']],
    ['a unit cannot be read', NEWEST, unit({ contents: '[Unit' }), ['systemd.units[0].contents']],
    ['a drop-in is no .conf', NEWEST, unit({ dropins: [{ name: 'a' }] }), ['systemd.units[0].dropins[0].name']],
    [
      'a unit stands twice',
      NEWEST,
      { systemd: { units: [{ name: 'a.service' }, { name: 'a.service' }] } },
      ['systemd.units[1]'],
    ],
    [
      'a kernel argument should and should not exist',
      '3.3.0',
      { kernelArguments: { shouldExist: ['a'], shouldNotExist: ['a'] } },
      ['kernelArguments.shouldNotExist[0]'],
    ],
    [
      'an SSH key stands twice',
      NEWEST,
      { passwd: { users: [{ name: 'core', sshAuthorizedKeys: ['k', 'k'] }] } },
      ['passwd.users[0].sshAuthorizedKeys[1]'],
    ],
    ['a user stands twice', NEWEST, { passwd: { users: [{ name: 'core' }, { name: 'core' }] } }, ['passwd.users[1]']],
  ])('when %s (%s)', (_, version, sections, errors) => {
    expect(found(version, sections)).toEqual(errors);
  });
});

describe('a config is valid, with a warning', () => {
  it.each<[string, SpecVersion, Record<string, unknown>, string[]]>([
    ['a mode has special bits before 3.6', '3.5.0', files({ path: '/a', mode: 0o4755 }), ['storage.files[0].mode']],
    ['a mode has special bits in 3.6', '3.6.0', files({ path: '/a', mode: 0o4755 }), []],
    [
      'a unit is enabled without [Install]',
      NEWEST,
      unit({ enabled: true, contents: '[Unit]\nA=b' }),
      ['systemd.units[0].contents'],
    ],
    [
      'an instance is enabled whose template has no [Install]',
      NEWEST,
      {
        systemd: {
          units: [
            { name: 'a@.service', contents: '[Unit]\nA=b' },
            { name: 'a@1.service', enabled: true },
          ],
        },
      },
      ['systemd.units[1]'],
    ],
    [
      'https goes through a plain proxy',
      NEWEST,
      { ignition: { proxy: { httpsProxy: 'http://p' } } },
      ['ignition.proxy.httpsProxy'],
    ],
    [
      'a hard link has an owner',
      NEWEST,
      { storage: { links: [{ path: '/a', target: '/b', hard: true, user: { id: 1 } }] } },
      ['storage.links[0].user'],
    ],
    [
      'a filesystem overwrites partitions',
      NEWEST,
      {
        storage: {
          disks: [{ device: '/dev/sda', partitions: [{ number: 1 }] }],
          filesystems: [{ device: '/dev/sda', format: 'ext4' }],
        },
      },
      ['storage.filesystems[0].device'],
    ],
    [
      'a wiped disk wipes a filesystem',
      NEWEST,
      {
        storage: {
          disks: [{ device: '/dev/sda', wipeTable: true }],
          filesystems: [{ device: '/dev/sda', format: 'ext4' }],
        },
      },
      ['storage.filesystems[0].device'],
    ],
  ])('when %s (%s)', (_, version, sections, warnings) => {
    expect(found(version, sections, 'warning')).toEqual(warnings);
    expect(found(version, sections)).toEqual([]);
  });
});

it('a message names the problem, the value and what is supported', () => {
  const { config } = parse({ ignition: { version: '3.1.0' }, ...contents({ source: 'gs://bucket/key' }) });
  expect(config === null ? [] : validate(config)).toEqual([
    {
      kind: 'error',
      path: 'storage.files[0].contents.source',
      message: 'the source "gs://bucket/key" has scheme gs: spec 3.1.0 supports http, https, tftp, s3, data',
    },
  ]);
});

it.each([
  [644, 'the mode 644 is decimal: for octal 0644 write 420, or 0644 in YAML'],
  [0o4755, 'the mode 04755 has setuid, setgid or sticky bits, which take effect only in 3.6.0 and later'],
  [1777, 'the mode 03361 has setuid, setgid or sticky bits, which take effect only in 3.6.0 and later'],
])('the warning about the mode %i names what to write', (mode, message) => {
  const { config } = parse({ ignition: { version: '3.4.0' }, ...files({ path: '/a', mode }) });
  expect(config === null ? [] : validate(config)).toMatchObject([{ kind: 'warning', message }]);
});

it('thousands of links, files and partitions are checked quickly', () => {
  const many = Array.from({ length: 20_000 }, (_, index) => index);
  const sections = {
    storage: {
      links: many.map((index) => ({ path: `/l${index}`, target: 'x' })),
      files: many.map((index) => ({ path: `/l${index}/f` })),
      disks: [
        {
          device: '/dev/sda',
          partitions: many.map((index) => ({
            number: index + 1,
            startMiB: 1 + index,
            sizeMiB: index % 7 === 0 ? -3 : 1,
          })),
        },
      ],
    },
  };
  const began = process.threadCpuUsage();
  expect(found(NEWEST, sections).length).toBeGreaterThan(1000);
  const { user, system } = process.threadCpuUsage(began);
  expect((user + system) / 1000).toBeLessThan(2000);
});
