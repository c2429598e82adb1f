import { describe, expect, it } from 'vitest';
import { file, ignition, machineConfig, render, withFiles } from './testing/sample.ts';

const link = (path: string, target: string, more: object = {}) => ({ path, target, ...more });
const storage = (sections: object) => ({ config: ignition({ storage: sections }) });
/** gzip, and the hash of its bytes. */
const packed = {
  source: 'data:;base64,H4sIAAAAAAAC/8vPSQEA5dRdPwMAAAA=',
  verification: { hash: 'sha256-7004f51bb4268b6b682879c33adc9ab20a26817079e23ceab3c7a499c3217e01' },
};
const unit = (more: object) => ({ config: ignition({ systemd: { units: [{ name: 'a.service', ...more }] } }) });

describe('MachineConfigs that are valid individually but not together', () => {
  it.each<[string, object, object, string]>([
    [
      'an owner by name and by number',
      withFiles(file('/other', ''), file('/a', '', { user: { name: 'core' } })),
      withFiles(file('/a', '', { user: { id: 7 } })),
      'spec.config.storage.files[0].user',
    ],
    [
      'a file below a link',
      storage({ links: [link('/etc/a', '/b')] }),
      withFiles(file('/etc/a/c', '')),
      'spec.config.storage.files[0]',
    ],
    [
      'a directory below a file',
      withFiles(file('/etc/a', '')),
      storage({ directories: [{ path: '/etc/a/b/c' }] }),
      'spec.config.storage.directories[0].path',
    ],
    [
      'a hard link to a directory',
      storage({ directories: [{ path: '/dir' }] }),
      storage({ links: [link('/a', '/dir', { hard: true })] }),
      'spec.config.storage.links[0]',
    ],
    [
      'a file in the place of a unit',
      unit({ contents: '[Unit]\n' }),
      withFiles(file('/etc/systemd/system/a.service', '')),
      'spec.config.storage.files[0].path',
    ],
    [
      'partitions that overlap',
      storage({ disks: [{ device: '/dev/a', partitions: [{ number: 1, startMiB: 1, sizeMiB: 100 }] }] }),
      storage({ disks: [{ device: '/dev/a', partitions: [{ number: 2, startMiB: 50, sizeMiB: 100 }] }] }),
      'spec.config.storage.disks[0]',
    ],
    [
      'contents of one, and the compression of another',
      withFiles(file('/other', ''), file('/a', 'text')),
      storage({ files: [{ path: '/a', contents: { compression: 'gzip' } }] }),
      'spec.config.storage.files[0].contents.compression',
    ],
    [
      'contents of one, and the hash of another',
      withFiles(file('/a', '', { contents: { source: packed.source, compression: 'gzip' } })),
      withFiles(file('/a', '', { contents: packed })),
      'spec.config.storage.files[0].contents.verification.hash',
    ],
  ])('are both named: %s', async (_, one, other, field) => {
    const result = await render([
      machineConfig('10-base', one),
      machineConfig('15-bystander'),
      machineConfig('20-team', other),
    ]);
    const [problem] = result.ok ? [] : result.problems;
    expect(problem).toMatchObject({ code: 'SLW_RENDER_CONFLICT', object: 'MachineConfig 20-team' });
    expect(problem?.field.startsWith(field)).toBe(true);
    expect(problem?.message).toContain('merged from MachineConfig 10-base, MachineConfig 20-team, ');
  });

  it('are reported up to a limit', async () => {
    const files = (more: object) => withFiles(...Array.from({ length: 50 }, (_, index) => file(`/${index}`, '', more)));
    const result = await render([
      machineConfig('10', files({ user: { name: 'core' } })),
      machineConfig('20', files({ user: { id: 7 } })),
    ]);
    expect(result.ok ? [] : result.problems).toHaveLength(20);
  });
});
