import { describe, expect, it } from 'vitest';
import { parse } from '../parse.ts';
import { hasErrors } from '../report.ts';
import { SPEC_VERSIONS, type SpecVersion } from '../version.ts';
import { translate, type TranslateOptions } from './index.ts';

function translateSections(
  from: SpecVersion,
  to: SpecVersion,
  sections: Record<string, unknown>,
  options?: TranslateOptions,
) {
  const { ignition, ...rest } = sections;
  const { config, report } = parse({ ignition: { ...(ignition as object), version: from }, ...rest });
  if (config === null) throw new Error(JSON.stringify(report));
  return translate(config, to, options);
}

const luks = (fields: object) => ({ storage: { luks: [{ name: 'root', device: '/dev/sda', ...fields }] } });
const file2 = (fields: object) => ({ storage: { files: [{ filesystem: 'root', path: '/a', ...fields }] } });
const file = (fields: object) => ({ storage: { files: [{ path: '/a', ...fields }] } });
const tang = { url: 'https://tang', thumbprint: 'x', advertisement: '{}' };

describe('every version can be reached from every other', () => {
  it.each(SPEC_VERSIONS.flatMap((from) => SPEC_VERSIONS.map((to) => [from, to] as const)))('%s to %s', (from, to) => {
    expect(translateSections(from, to, {})).toEqual({ config: { ignition: { version: to } }, report: [] });
  });
});

describe('translating', () => {
  it.each<[string, SpecVersion, SpecVersion, Record<string, unknown>, Record<string, unknown>]>([
    [
      'keeps tang advertisements',
      '3.4.0',
      '3.5.0',
      luks({ clevis: { tang: [tang] } }),
      luks({ clevis: { tang: [tang] } }),
    ],
    [
      'keeps tang advertisements on the way down',
      '3.5.0',
      '3.4.0',
      luks({ clevis: { tang: [tang] } }),
      luks({ clevis: { tang: [tang] } }),
    ],
    ['takes off special bits that were never set', '3.5.0', '3.6.0', file({ mode: 0o4755 }), file({ mode: 0o755 })],
    ['leaves an empty clevis behind', '3.2.0', '3.3.0', luks({ clevis: {} }), luks({})],
    [
      'keeps a custom clevis config',
      '3.2.0',
      '3.3.0',
      luks({ clevis: { custom: { pin: 'tpm2', config: '{}' } } }),
      luks({ clevis: { custom: { pin: 'tpm2', config: '{}' } } }),
    ],
    [
      'leaves out what only says the default',
      '3.5.0',
      '3.3.0',
      luks({ discard: false, cex: { enabled: false } }),
      luks({}),
    ],
    [
      'leaves out what only says the default, of users',
      '3.2.0',
      '3.1.0',
      { passwd: { users: [{ name: 'a', shouldExist: true }] } },
      { passwd: { users: [{ name: 'a' }] } },
    ],
    [
      'leaves out a custom clevis config that is none',
      '3.3.0',
      '3.2.0',
      luks({ clevis: { tpm2: true, custom: { needsNetwork: false } } }),
      luks({ clevis: { tpm2: true } }),
    ],
    [
      'says what 2.2 left unsaid of partitions',
      '2.2.0',
      '2.3.0',
      { storage: { disks: [{ device: '/dev/sda', partitions: [{ number: 1 }] }] } },
      { storage: { disks: [{ device: '/dev/sda', partitions: [{ number: 1, label: '', size: 0, start: 0 }] }] } },
    ],
    [
      'makes 2.x files overwrite',
      '2.4.0',
      '3.1.0',
      file2({ contents: { source: 'data:,x' } }),
      file({ overwrite: true, contents: { source: 'data:,x' } }),
    ],
    [
      'keeps files that 2.x does not overwrite',
      '2.3.0',
      '3.0.0',
      file2({ overwrite: false }),
      file({ overwrite: false, contents: { source: '' } }),
    ],
    [
      'makes a list of what 2.x appends',
      '2.4.0',
      '3.1.0',
      file2({ append: true, contents: { source: 'data:,x' } }),
      file({ overwrite: false, append: [{ source: 'data:,x' }] }),
    ],
    [
      'takes several appended configs',
      '2.3.0',
      '3.0.0',
      { ignition: { config: { append: [{ source: 'http://a' }, { source: 'http://b' }] } } },
      { ignition: { version: '3.0.0', config: { merge: [{ source: 'http://a' }, { source: 'http://b' }] } } },
    ],
    [
      'takes several certificate authorities',
      '2.4.0',
      '3.1.0',
      { ignition: { security: { tls: { certificateAuthorities: [{ source: 'http://a' }, { source: 'http://b' }] } } } },
      {
        ignition: {
          version: '3.1.0',
          security: { tls: { certificateAuthorities: [{ source: 'http://a' }, { source: 'http://b' }] } },
        },
      },
    ],
    [
      'takes the newer way to enable a unit',
      '2.2.0',
      '3.0.0',
      {
        systemd: {
          units: [
            { name: 'a.service', enable: true, enabled: false },
            { name: 'b.service', enable: true },
          ],
        },
      },
      {
        systemd: {
          units: [
            { name: 'a.service', enabled: false },
            { name: 'b.service', enabled: true },
          ],
        },
      },
    ],
    [
      'makes several files of one that is appended to',
      '3.1.0',
      '2.4.0',
      file({ overwrite: true, contents: { source: 'data:,1' }, append: [{ source: 'data:,2' }] }),
      {
        storage: {
          files: [
            { filesystem: 'root', path: '/a', overwrite: true, contents: { source: 'data:,1' } },
            { filesystem: 'root', path: '/a', overwrite: false, append: true, contents: { source: 'data:,2' } },
          ],
        },
      },
    ],
    [
      'puts files onto the filesystem they are on',
      '3.1.0',
      '2.4.0',
      {
        storage: {
          filesystems: [
            { device: '/dev/sda', format: 'xfs', path: '/var' },
            { device: '/dev/sdb', format: 'xfs' },
          ],
          directories: [{ path: '/var/a' }],
        },
      },
      {
        storage: {
          filesystems: [
            { name: '/var', mount: { device: '/dev/sda', format: 'xfs' } },
            { name: '1', mount: { device: '/dev/sdb', format: 'xfs' } },
          ],
          directories: [{ filesystem: '/var', path: '/a' }],
        },
      },
    ],
    [
      'takes partitions down that do not say whether to wipe',
      '3.2.0',
      '2.4.0',
      { storage: { disks: [{ device: '/dev/sda', partitions: [{ number: 1 }] }] } },
      { storage: { disks: [{ device: '/dev/sda', partitions: [{ number: 1 }] }] } },
    ],
    [
      'forgets what 2.x cannot tell from absent',
      '3.1.0',
      '2.4.0',
      { passwd: { users: [{ name: 'a', gecos: '', system: false, uid: 0 }] } },
      { passwd: { users: [{ name: 'a', uid: 0 }] } },
    ],
  ])('%s (%s to %s)', (_, from, to, sections, expected) => {
    const { config, report } = translateSections(from, to, sections);
    expect(hasErrors(report)).toBe(false);
    expect(config).toEqual({ ignition: { version: to }, ...expected });
  });

  it('places the nodes of a 2.x filesystem at the caller’s mount point', () => {
    const sections = {
      storage: {
        filesystems: [{ name: 'data', mount: { device: '/dev/sda', format: 'ext4' } }],
        files: [{ filesystem: 'data', path: '/a' }],
      },
    };
    expect(translateSections('2.4.0', '3.1.0', sections, { filesystems: { data: '/srv/data' } }).config).toEqual({
      ignition: { version: '3.1.0' },
      storage: {
        filesystems: [{ device: '/dev/sda', format: 'ext4', path: '/srv/data' }],
        files: [{ path: '/srv/data/a', overwrite: true, contents: { source: '' } }],
      },
    });
  });

  it('does not change its input', () => {
    const { config } = parse({ ignition: { version: '3.5.0' }, ...file({ mode: 0o4755 }) });
    const before = JSON.stringify(config);
    if (config !== null) translate(config, '3.6.0');
    expect(JSON.stringify(config)).toBe(before);
  });
});

describe('what cannot be expressed is an error that names the field', () => {
  it.each<[SpecVersion, SpecVersion, Record<string, unknown>, string[]]>([
    ['3.6.0', '3.5.0', file({ mode: 0o4755 }), ['storage.files[0].mode']],
    [
      '3.6.0',
      '3.5.0',
      luks({ clevis: { custom: { pin: 'yubi', config: '{}' } } }),
      ['storage.luks[0].clevis.custom.pin'],
    ],
    ['3.5.0', '3.4.0', luks({ cex: { enabled: true } }), ['storage.luks[0].cex.enabled']],
    ['3.4.0', '3.3.0', luks({ clevis: { tang: [tang] } }), ['storage.luks[0].clevis.tang[0].advertisement']],
    [
      '3.4.0',
      '3.3.0',
      luks({ discard: true, openOptions: ['a'] }),
      ['storage.luks[0].discard', 'storage.luks[0].openOptions'],
    ],
    ['3.4.0', '3.3.0', { storage: { directories: [{ path: '/a', mode: 0o1777 }] } }, ['storage.directories[0].mode']],
    ['3.4.0', '3.3.0', file({ contents: { source: 'arn:aws:s3:::b/k' } }), ['storage.files[0].contents.source']],
    ['3.3.0', '3.2.0', { kernelArguments: { shouldNotExist: ['a'] } }, ['kernelArguments.shouldNotExist']],
    [
      '3.3.0',
      '3.2.0',
      { storage: { filesystems: [{ device: '/dev/sda', format: 'none' }] } },
      ['storage.filesystems[0].format'],
    ],
    ['3.2.0', '3.1.0', luks({}), ['storage.luks']],
    ['3.2.0', '3.1.0', { passwd: { groups: [{ name: 'a', shouldExist: false }] } }, ['passwd.groups[0].shouldExist']],
    [
      '3.2.0',
      '3.1.0',
      { storage: { disks: [{ device: '/dev/sda', partitions: [{ number: 1, resize: true }] }] } },
      ['storage.disks[0].partitions[0].resize'],
    ],
    ['3.2.0', '3.1.0', file({ contents: { source: 'gs://b/k' } }), ['storage.files[0].contents.source']],
    ['3.1.0', '3.0.0', { ignition: { proxy: { noProxy: ['a'] } } }, ['ignition.proxy.noProxy']],
    [
      '3.1.0',
      '3.0.0',
      { ignition: { config: { merge: [{ source: 'http://a', compression: 'gzip' }] } } },
      ['ignition.config.merge[0].compression'],
    ],
    [
      '3.1.0',
      '3.0.0',
      file({ contents: { source: 'http://a', httpHeaders: [{ name: 'A', value: 'b' }] } }),
      ['storage.files[0].contents.httpHeaders'],
    ],
    [
      '3.1.0',
      '3.0.0',
      { storage: { filesystems: [{ device: '/dev/sda', format: 'xfs', mountOptions: ['ro'] }] } },
      ['storage.filesystems[0].mountOptions'],
    ],
    [
      '3.1.0',
      '2.4.0',
      { storage: { filesystems: [{ device: '/dev/sda', format: 'xfs', mountOptions: ['ro'] }] } },
      ['storage.filesystems[0].mountOptions'],
    ],
    ['3.1.0', '2.4.0', file({ mode: 420 }), ['storage.files[0].contents']],
    [
      '3.1.0',
      '2.4.0',
      { ignition: { config: { merge: [{ source: 'http://a', httpHeaders: [{ name: 'A' }] }] } } },
      ['ignition.config.merge[0].httpHeaders[0].value'],
    ],
    ['2.4.0', '2.3.0', { ignition: { proxy: { httpProxy: 'http://a' } } }, ['ignition.proxy.httpProxy']],
    [
      '2.3.0',
      '2.2.0',
      {
        storage: { disks: [{ device: '/dev/sda', partitions: [{ number: 1, sizeMiB: 1, wipePartitionEntry: true }] }] },
      },
      ['storage.disks[0].partitions[0].sizeMiB', 'storage.disks[0].partitions[0].wipePartitionEntry'],
    ],
    ['2.4.0', '3.1.0', { networkd: { units: [{ name: 'a.network' }] } }, ['networkd.units']],
    [
      '2.4.0',
      '3.1.0',
      { storage: { disks: [{ device: '/dev/sda', partitions: [{ number: 1, start: 2048 }] }] } },
      ['storage.disks[0].partitions[0].start'],
    ],
    ['2.4.0', '3.1.0', { storage: { filesystems: [{ name: 'data', path: '/x' }] } }, ['storage.filesystems[0].name']],
    [
      '2.4.0',
      '3.1.0',
      { storage: { filesystems: [{ name: 'root', mount: { device: '/dev/sda', format: 'xfs' } }] } },
      ['storage.filesystems[0].mount'],
    ],
    ['2.4.0', '3.1.0', file2({ filesystem: 'data' }), ['storage.files[0].filesystem']],
    ['2.4.0', '3.1.0', { passwd: { users: [{ name: 'a', create: {} }] } }, ['passwd.users[0].create']],
    [
      '2.4.0',
      '3.1.0',
      {
        storage: {
          files: [{ filesystem: 'root', path: '/a' }],
          links: [{ filesystem: 'root', path: '//a', target: 'x' }],
        },
      },
      ['storage.links[0].path'],
    ],
    [
      '2.4.0',
      '3.1.0',
      {
        storage: {
          files: [{ filesystem: 'root', path: '/a/b' }],
          links: [{ filesystem: 'root', path: '/a', target: 'x' }],
        },
      },
      ['storage.files[0].path'],
    ],
    [
      '2.4.0',
      '3.1.0',
      {
        systemd: {
          units: [{ name: 'a.service' }, { name: 'a.service', dropins: [{ name: 'a.conf' }, { name: 'a.conf' }] }],
        },
      },
      ['systemd.units[1].name', 'systemd.units[1].dropins[1].name'],
    ],
  ])('%s to %s: %j', (from, to, sections, paths) => {
    const { config, report } = translateSections(from, to, sections);
    expect(config).toBeNull();
    expect(report.filter(({ kind }) => kind === 'error').map(({ path }) => path)).toEqual(paths);
  });
});

it('an omitted default is reported', () => {
  const { report } = translateSections('3.4.0', '3.3.0', luks({ discard: false }));
  expect(report).toEqual([
    {
      kind: 'info',
      path: 'storage.luks[0].discard',
      message: 'spec 3.3.0 has no discard; it is omitted, because its value is the default',
    },
  ]);
});
