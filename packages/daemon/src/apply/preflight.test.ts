import { planUpdate } from '@slipway/fleet';
import { describe, expect, it } from 'vitest';
import { type FileSystem, ownOwners } from '../host/file-system.ts';
import { CURRENT_CONFIG, UPDATE_DIRECTORY } from '../state-file.ts';
import type { StoredConfig } from '../stored-config.ts';
import { preflight } from './preflight.ts';
import { file, ignition, machineOn, makeSmallMachine, named, type Spec, withFiles } from './testing/small-machine.ts';
import { differences, takeSnapshot } from './testing/snapshot.ts';

const make = {
  file: (files: FileSystem, path: string) =>
    files.createFile(path, { ...ownOwners(), mode: 0o644, bytes: new Uint8Array() }),
  directory: (files: FileSystem, path: string) => files.makeDirectory(path, { ...ownOwners(), mode: 0o755 }),
  link: (files: FileSystem, path: string, target: string) => files.makeLink(path, { ...ownOwners(), target }),
};

interface Case {
  readonly from?: Spec;
  readonly to: Spec;
  readonly machine?: (files: FileSystem) => Promise<void>;
}

/** The obstacle, and whether an update also stops because of it and leaves the machine unchanged. */
async function found({ from = {}, to, machine = () => Promise.resolve() }: Case) {
  const { files, host } = await makeSmallMachine();
  await machine(files);
  const [current, desired]: [StoredConfig, StoredConfig] = [named('a', from), named('b', to)];
  const plan = await planUpdate({ current, desired });
  const checked = await preflight(host, { from: current, to: desired, plan });
  const before = await takeSnapshot(files);
  const result = await machineOn(files, current).update(desired);
  const changed = differences(before, await takeSnapshot(files));
  return { checked, result, changed, isLeftOver: (await files.lookAt(UPDATE_DIRECTORY)) !== null };
}

const user = (rest: object) => ignition({ passwd: { users: [{ name: 'core', ...rest }] } });

describe('preflight finds before anything is touched:', () => {
  it.each<[string, Case, string, RegExp]>([
    [
      'a path that leaves the root through a link',
      {
        to: withFiles(file('/etc/out/passwd', 'x')),
        machine: (files) => make.link(files, '/etc/out', '../../../etc'),
      },
      'SLW_DAEMON_PATH',
      /rendered-worker-b, file \/etc\/out\/passwd: /,
    ],
    [
      'a file where a directory must be',
      { to: withFiles(file('/etc/a/b', 'x')), machine: (files) => make.file(files, '/etc/a') },
      'SLW_DAEMON_PREFLIGHT',
      /file \/etc\/a\/b: expected \/etc\/a to be a directory, found a file/,
    ],
    [
      'a directory where a file must be, with user-managed contents',
      {
        to: withFiles(file('/etc/a', 'x')),
        machine: async (files) => {
          await make.directory(files, '/etc/a');
          await make.file(files, '/etc/a/theirs');
        },
      },
      'SLW_DAEMON_PREFLIGHT',
      /file \/etc\/a: expected a file or nothing, found a directory that contains \/etc\/a\/theirs/,
    ],
    [
      'an owner that does not exist on the machine',
      { to: withFiles(file('/etc/a', 'x', { user: { name: 'nobody-here' } })) },
      'SLW_DAEMON_ACCOUNT',
      /file \/etc\/a: .*nobody-here/,
    ],
    [
      'a path that the daemon uses',
      { to: withFiles(file(CURRENT_CONFIG, 'x')) },
      'SLW_DAEMON_PREFLIGHT',
      /file \/etc\/machine-config-daemon\/currentconfig: .*the daemon uses this path/,
    ],
    [
      'a link of the user in the path of their keys',
      {
        to: user({ sshAuthorizedKeys: ['ssh-ed25519 A'] }),
        machine: (files) => make.link(files, '/home/core/.ssh', '/etc'),
      },
      'SLW_DAEMON_PREFLIGHT',
      /ssh keys of user core: expected \/home\/core\/.ssh to be a directory, found a link/,
    ],
    [
      'keys for a user that does not exist',
      { to: user({ sshAuthorizedKeys: ['ssh-ed25519 A'] }), machine: (files) => files.remove('/etc/passwd') },
      'SLW_DAEMON_PREFLIGHT',
      /ssh keys of user core: expected the user core on the machine, found none/,
    ],
    [
      'a password for a user that does not exist',
      { to: user({ passwordHash: '$6$secret' }), machine: (files) => files.remove('/etc/shadow') },
      'SLW_DAEMON_PREFLIGHT',
      /password of user core: expected the user core on the machine, found none/,
    ],
    [
      'a change that a running machine cannot make',
      { to: ignition({ storage: { directories: [{ path: '/etc/d' }] } }) },
      'SLW_UPDATE_IRRECONCILABLE',
      /storage.directories\[\/etc\/d\]/,
    ],
    [
      'a file of the OS to restore where a directory must be',
      {
        from: withFiles(file('/etc/a', 'x')),
        to: withFiles(file('/etc/a/b', 'x')),
        machine: async (files) => {
          await make.file(files, '/etc/a');
          await make.directory(files, '/usr/etc');
          await make.file(files, '/usr/etc/a');
        },
      },
      'SLW_DAEMON_PREFLIGHT',
      /expected \/etc\/a to be a directory/,
    ],
  ])('%s', async (_, given, code, message) => {
    const { checked, result, changed, isLeftOver } = await found(given);
    const problem = { code, message: expect.stringMatching(message) };
    expect(checked).toMatchObject({ problem });
    expect(result).toMatchObject({ outcome: 'old', config: 'rendered-worker-a', problem });
    expect(changed).toEqual([]);
    expect(isLeftOver).toBe(false);
  });

  it('nothing, if nothing is in the way', async () => {
    const { checked, result } = await found({ to: withFiles(file('/usr/local/etc/a', 'x')) });
    expect(checked).toMatchObject({ type: 'passed' });
    expect(result).toMatchObject({ outcome: 'new' });
  });

  it('every obstacle, but lists only a few', async () => {
    const files = Array.from({ length: 30 }, (_, index) => file(`/etc/a/${index}`, 'x'));
    const { checked, result } = await found({ to: withFiles(...files), machine: (disk) => make.file(disk, '/etc/a') });
    expect(checked.type === 'refused' && checked.problem.message.split('; ')).toHaveLength(10);
    expect(checked).toMatchObject({ type: 'refused', cause: 'machine' });
    expect(result).toMatchObject({ outcome: 'old' });
  });
});
