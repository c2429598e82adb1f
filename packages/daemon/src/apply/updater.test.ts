import { listRecordedActions } from '@slipway/simulator';
import { describe, expect, it } from 'vitest';
import { DaemonError } from '../errors.ts';
import { ownOwners } from '../host/file-system.ts';
import type { Host } from '../host/host.ts';
import { STATE_DIRECTORY, UPDATE_DIRECTORY } from '../state-file.ts';
import { readCurrentConfig } from '../stored-config.ts';
import {
  file,
  ignition,
  machineOn,
  makeSmallMachine,
  named,
  type SmallMachine,
  type Spec,
  textAt,
  withFiles,
  withUnits,
} from './testing/small-machine.ts';
import { differences, takeSnapshot } from './testing/snapshot.ts';

const service = (start: string, wantedBy = 'multi-user.target') =>
  `[Service]\nExecStart=${start}\n[Install]\nWantedBy=${wantedBy}\n`;

const RESTART_APP = {
  files: [{ path: '/', actions: [{ type: 'Restart' as const, restart: { serviceName: 'app.service' } }] }],
  units: [{ name: 'app.service', actions: [{ type: 'Restart' as const, restart: { serviceName: 'app.service' } }] }],
};

async function machineAt(spec: Spec, options: Parameters<typeof makeSmallMachine>[0] = {}): Promise<SmallMachine> {
  const machine = await makeSmallMachine(options);
  expect(await machine.update(named('a', spec))).toMatchObject({ outcome: 'new' });
  machine.steps.length = 0;
  return machine;
}

describe('files of a config', () => {
  it('get contents, mode and owner in newly created directories, and no temporary files remain', async () => {
    const { files } = await machineAt(withFiles(file('/etc/new/dir/a.conf', 'one\n', { mode: 0o640 })));
    expect(await textAt(files, '/etc/new/dir/a.conf')).toBe('one\n');
    expect(await files.lookAt('/etc/new/dir/a.conf')).toMatchObject({ mode: 0o640 });
    expect(await files.lookAt('/etc/new')).toMatchObject({ kind: 'directory', mode: 0o755 });
    expect(await files.list('/etc/new/dir')).toEqual(['a.conf']);
    expect(await files.lookAt(UPDATE_DIRECTORY)).toBeNull();
    expect(await files.list(STATE_DIRECTORY)).toEqual(['currentconfig', 'noorig']);
  });

  it('that leave the config are replaced by what the OS had, or removed', async () => {
    const os = { files: { '/etc/motd': 'of the OS\n' } };
    const machine = await machineAt(withFiles(file('/etc/motd', 'x'), file('/etc/other', 'y')), os);
    const { files } = machine;
    expect(await textAt(files, `${STATE_DIRECTORY}/orig/etc/motd.mcdorig`)).toBe('of the OS\n');
    expect(await textAt(files, `${STATE_DIRECTORY}/noorig/etc/other.mcdnoorig`)).toBe('');
    expect(await machine.update(named('b', withFiles(file('/etc/motd', 'z'))))).toMatchObject({ outcome: 'new' });
    expect(await textAt(files, `${STATE_DIRECTORY}/orig/etc/motd.mcdorig`)).toBe('of the OS\n');
    expect(await files.lookAt('/etc/other')).toBeNull();
    expect(await machine.update(named('c'))).toMatchObject({ outcome: 'new' });
    expect(await textAt(files, '/etc/motd')).toBe('of the OS\n');
    expect(await files.lookAt(`${STATE_DIRECTORY}/orig/etc/motd.mcdorig`)).toBeNull();
    expect(await files.lookAt(`${STATE_DIRECTORY}/noorig/etc/other.mcdnoorig`)).toBeNull();
  });

  it('that the first boot wrote are replaced by those of the image below /usr/etc', async () => {
    const machine = await makeSmallMachine({ files: { '/etc/a': 'of the config', '/usr/etc/a': 'of the image' } });
    const start = named('first', withFiles(file('/etc/a', 'of the config')));
    const { files } = machine;
    const booted = machineOn(files, start);
    expect(await booted.update(named('b'))).toMatchObject({ outcome: 'new' });
    expect(await textAt(files, '/etc/a')).toBe('of the image');
  });

  it('without contents keep those of the OS, and change only what the config names', async () => {
    const machine = await makeSmallMachine({ files: { '/etc/kept': 'of the OS\n' } });
    const { files } = machine;
    expect(await machine.update(named('a', withFiles({ path: '/etc/kept' })))).toMatchObject({ outcome: 'new' });
    expect(await files.lookAt('/etc/kept')).toMatchObject({ mode: 0o644 });
    expect(await machine.update(named('b', withFiles({ path: '/etc/kept', mode: 0o600 })))).toMatchObject({
      outcome: 'new',
    });
    expect(await textAt(files, '/etc/kept')).toBe('of the OS\n');
    expect(await files.lookAt('/etc/kept')).toMatchObject({ mode: 0o600 });
    expect(await machine.update(named('c'))).toMatchObject({ outcome: 'new' });
    expect(await textAt(files, '/etc/kept')).toBe('of the OS\n');
  });

  it('replace directories of files, and vice versa', async () => {
    const machine = await machineAt(withFiles(file('/etc/a/b/c', 'deep'), file('/etc/x', 'flat')));
    const { files } = machine;
    const other = withFiles(file('/etc/a', 'flat'), file('/etc/x/y/z', 'deep'));
    expect(await machine.update(named('b', other))).toMatchObject({ outcome: 'new' });
    expect(await textAt(files, '/etc/a')).toBe('flat');
    expect(await textAt(files, '/etc/x/y/z')).toBe('deep');
    expect((await files.list('/etc')).filter((name) => name.startsWith('.'))).toEqual([]);
    const back = withFiles(file('/etc/a/b/c', 'deep'), file('/etc/x', 'flat'));
    expect(await machine.update(named('c', back))).toMatchObject({ outcome: 'new' });
    expect(await textAt(files, '/etc/a/b/c')).toBe('deep');
    expect(await textAt(files, '/etc/x')).toBe('flat');
  });

  it('keep the hard links of the config when they change', async () => {
    const both = (text: string) =>
      ignition({
        storage: { files: [file('/etc/a', text)], links: [{ path: '/etc/b', target: '/etc/a', hard: true }] },
      });
    const machine = await makeSmallMachine({ files: { '/etc/a': 'one' } });
    await machine.files.makeHardLink('/etc/b', '/etc/a');
    const booted = machineOn(machine.files, named('first', both('one')));
    expect(await booted.update(named('b', both('two')))).toMatchObject({ outcome: 'new' });
    expect(await textAt(machine.files, '/etc/b')).toBe('two');
    expect((await machine.files.list('/etc')).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  it('a directory that leaves the config is removed if it is empty, and stays otherwise', async () => {
    const machine = await makeSmallMachine();
    const { files } = machine;
    const owners = { ...ownOwners(), mode: 0o755 };
    for (const path of ['/etc/empty', '/etc/used']) await files.makeDirectory(path, owners);
    await files.createFile('/etc/used/theirs', { ...owners, bytes: new Uint8Array() });
    const directories = [{ path: '/etc/empty' }, { path: '/etc/used' }];
    const booted = machineOn(files, named('first', ignition({ storage: { directories } })));
    expect(await booted.update(named('b'))).toMatchObject({ outcome: 'new' });
    expect(await files.lookAt('/etc/empty')).toBeNull();
    expect(await files.list('/etc/used')).toEqual(['theirs']);
  });
});

describe('units of a config', () => {
  it('lose the links of their old [Install] section, and get those of the new one', async () => {
    const unit = (wantedBy: string) =>
      withUnits({ name: 'app.service', enabled: true, contents: service('/bin/app', wantedBy) });
    const machine = await machineAt(unit('multi-user.target'));
    const link = (target: string) => machine.files.lookAt(`/etc/systemd/system/${target}.wants/app.service`);
    expect(await link('multi-user.target')).toMatchObject({ kind: 'link' });
    const policy = { units: [{ name: 'app.service', actions: [{ type: 'DaemonReload' as const }] }] };
    expect(await machine.update(named('b', unit('graphical.target')), policy)).toMatchObject({ outcome: 'new' });
    expect(await link('multi-user.target')).toBeNull();
    expect(await link('graphical.target')).toMatchObject({ kind: 'link' });
  });

  it('that must not be masked lose a mask of another client', async () => {
    const machine = await makeSmallMachine();
    const { files } = machine;
    await files.makeLink('/etc/systemd/system/crio.service', { ...ownOwners(), target: '/dev/null' });
    const unmasked = withUnits({ name: 'crio.service', mask: false, enabled: true });
    const policy = { units: [{ name: 'crio.service', actions: [{ type: 'None' as const }] }] };
    expect(await machine.update(named('a', unmasked), policy)).toMatchObject({ outcome: 'new' });
    expect(await files.lookAt('/etc/systemd/system/crio.service')).toBeNull();
    expect(await machine.host.systemd.enablement('crio.service')).toBe('enabled');
  });
});

describe('the user core', () => {
  const user = (rest: object) => ignition({ passwd: { users: [{ name: 'core', ...rest }] } });

  it('gets keys in a separate file, and loses them', async () => {
    const machine = await machineAt(user({ sshAuthorizedKeys: ['ssh-ed25519 A'] }));
    const { files } = machine;
    const keys = '/home/core/.ssh/authorized_keys.d/ignition';
    expect(await textAt(files, keys)).toBe('ssh-ed25519 A\n');
    expect(await files.lookAt(keys)).toMatchObject({ mode: 0o600 });
    expect(await files.lookAt('/home/core/.ssh')).toMatchObject({ mode: 0o700 });
    expect(await machine.update(named('b'))).toMatchObject({ outcome: 'new' });
    expect(await files.lookAt(keys)).toBeNull();
  });

  it('has no password, rather than an empty one, when the config sets none', async () => {
    const machine = await machineAt(user({ passwordHash: '$6$one' }));
    expect(await machine.host.accounts.passwordHash('core')).toBe('$6$one');
    expect(await machine.update(named('b'))).toMatchObject({ outcome: 'new' });
    expect(await machine.host.accounts.passwordHash('core')).toBe('*');
  });
});

describe('a config without changes', () => {
  it('changes only the name on the disk', async () => {
    const machine = await machineAt(withFiles(file('/etc/a', 'one')));
    const before = await takeSnapshot(machine.files);
    expect(await machine.update(named('b', withFiles(file('/etc/a', 'one'))))).toEqual({
      outcome: 'new',
      config: 'rendered-worker-b',
    });
    expect(differences(before, await takeSnapshot(machine.files)).map((line) => line.split(':')[0])).toEqual([
      `${STATE_DIRECTORY}/currentconfig`,
    ]);
    expect((await readCurrentConfig(machine.files))?.name).toBe('rendered-worker-b');
  });
});

describe('an update that fails', () => {
  const app = (start: string) => withUnits({ name: 'app.service', enabled: true, contents: service(start) });

  it('because a unit does not start restores the old files, units and keys, and names the unit', async () => {
    const machine = await machineAt(app('/usr/bin/app'));
    const before = await takeSnapshot(machine.files);
    const result = await machine.update(named('b', app('/usr/bin/false')), RESTART_APP);
    expect(result).toMatchObject({
      outcome: 'old',
      config: 'rendered-worker-a',
      target: 'rendered-worker-b',
      rebooting: false,
      problem: { code: 'SLW_DAEMON_UNIT', message: expect.stringContaining('restarting app.service') },
    });
    expect(differences(before, await takeSnapshot(machine.files))).toEqual([]);
    expect(machine.steps.map(({ step }) => step)).toEqual(['staged', 'files', 'rolling back']);
    // With the old files, which do start.
    expect((await listRecordedActions(machine.files)).slice(-2)).toEqual([
      { what: 'daemon-reload', name: '' },
      { what: 'restart', name: 'app.service' },
    ]);
  });

  it('reports if a unit does not start with its old files either', async () => {
    const machine = await machineAt(app('/usr/bin/false'));
    const result = await machine.update(named('b', withFiles(file('/etc/a', 'x'))), RESTART_APP);
    expect(result).toMatchObject({
      outcome: 'old',
      problem: { message: expect.stringMatching(/too: restarting app/) },
    });
  });

  it('verification is rolled back, even from another boot and OS', async () => {
    const machine = await machineAt(withFiles(file('/etc/a', 'one')), { kernelArguments: ['quiet'] });
    const before = await takeSnapshot(machine.files);
    // A program on the machine writes the file at every boot.
    const meddling = machineOn(machine.files, machine.at(), (host) => ({
      ...host,
      async reboot(why) {
        await host.reboot(why);
        if ((await textAt(host.files, '/etc/a')) === 'two') await host.files.setMode('/etc/a', 0o666);
      },
    }));
    const to = named('b', { ...withFiles(file('/etc/a', 'two')), kernelArguments: ['nosmt'] });
    expect(await meddling.update(to, {})).toMatchObject({
      outcome: 'old',
      problem: {
        code: 'SLW_DAEMON_VERIFY',
        message: expect.stringContaining('/etc/a: expected mode 0644, found 0666'),
      },
    });
    expect(differences(before, await takeSnapshot(machine.files))).toEqual([]);
    expect(await machine.recover()).toEqual({ outcome: 'none' });
  });

  it('does not reveal a password', async () => {
    const users = (hash: string) => ignition({ passwd: { users: [{ name: 'core', passwordHash: hash }] } });
    const machine = await machineAt(users('$6$old'));
    const broken = machineOn(machine.files, machine.at(), (host) => ({
      ...host,
      accounts: {
        ...host.accounts,
        setPasswordHash: (user, hash) =>
          hash === '$6$new'
            ? Promise.reject(new DaemonError('SLW_DAEMON_ACCOUNT', 'refused'))
            : host.accounts.setPasswordHash(user, hash),
      },
    }));
    const result = await broken.update(named('b', users('$6$new')));
    expect(result).toMatchObject({ outcome: 'old', problem: { code: 'SLW_DAEMON_ACCOUNT' } });
    expect(JSON.stringify([result, broken.steps])).not.toContain('$6$');
    expect(await broken.host.accounts.passwordHash('core')).toBe('$6$old');
  });
});

describe('an update that needs a reboot', () => {
  it('is verified after the boot, and the machine then runs the new OS', async () => {
    const machine = await machineAt(withFiles(file('/etc/a', 'one')), { kernelArguments: ['quiet'] });
    const bootId = await machine.host.bootId();
    const to = named('b', { ...withFiles(file('/etc/a', 'two')), kernelArguments: ['nosmt'] });
    expect(await machine.update(to, {})).toMatchObject({ outcome: 'new' });
    expect(await machine.host.bootId()).not.toBe(bootId);
    expect((await machine.host.os.state()).booted.kernelArguments).toContain('nosmt');
    expect(machine.steps.map(({ step }) => step)).toEqual(['staged', 'files', 'os', 'reboot', 'going on', 'verified']);
  });

  it('requests the reboot again if the machine did not go down', async () => {
    const machine = await machineAt(withFiles(file('/etc/a', 'one')));
    let asked = 0;
    const deaf = machineOn(machine.files, machine.at(), (host: Host) => ({
      ...host,
      reboot: (why) => {
        asked += 1;
        return asked < 3 ? Promise.resolve() : host.reboot(why);
      },
    }));
    expect(await deaf.update(named('b', withFiles(file('/etc/a', 'two'))), {})).toMatchObject({ outcome: 'new' });
    expect(asked).toBe(3);
  });
});

describe('an update that another version of the program started', () => {
  it('continues from the journal of that version, and reports it', async () => {
    const machine = await machineAt(withFiles(file('/etc/a', 'one')));
    const path = `${UPDATE_DIRECTORY}/configs.json`;
    const upgraded = machineOn(machine.files, machine.at(), (host) => ({
      ...host,
      async reboot(why) {
        const text = (await textAt(host.files, path)) ?? '';
        await host.files.remove(path);
        const bytes = Buffer.from(text.replace('"program":"test"', '"program":"0.9"'));
        await host.files.createFile(path, { ...ownOwners(), mode: 0o600, bytes });
        await host.reboot(why);
      },
    }));
    const result = await upgraded.update(named('b', withFiles(file('/etc/a', 'two'))), {});
    expect(result).toMatchObject({ outcome: 'new', config: 'rendered-worker-b' });
    expect(upgraded.steps).toContainEqual({
      step: 'going on',
      text: 'resuming the update to rendered-worker-b, which version 0.9 started; this is version test',
    });
  });
});

describe('a machine with /var on another file system', () => {
  /** As in Linux even between two mounts of the same file system: no hard links and no renames across. */
  const isVar = (path: string) => /^\/(var|home|usr\/local)\//.test(path);
  const withVar = (host: Host): Host => {
    const { files } = host;
    const within = (one: string, other: string) =>
      isVar(one) === isVar(other)
        ? Promise.resolve()
        : Promise.reject(Object.assign(new Error('EXDEV'), { code: 'EXDEV', errno: -18 }));
    return {
      ...host,
      files: {
        ...files,
        makeHardLink: async (path, existing) => (await within(path, existing), files.makeHardLink(path, existing)),
        rename: async (from, to) => (await within(from, to), files.rename(from, to)),
      },
    };
  };
  const user = (key: string) => ({ users: [{ name: 'core', sshAuthorizedKeys: [key] }] });
  const before = ignition({
    passwd: user('ssh-ed25519 A'),
    storage: { files: [file('/var/lib/a', 'one'), file('/var/lib/goes', 'one'), file('/etc/a', 'one')] },
  });
  const after = (start: string) =>
    ignition({
      passwd: user('ssh-ed25519 B'),
      storage: { files: [file('/var/lib/a', 'two'), file('/var/lib/os', 'over it'), file('/etc/a', 'two')] },
      systemd: { units: [{ name: 'app.service', enabled: true, contents: service(start) }] },
    });
  const start = async () => {
    const machine = await machineAt(before, { files: { '/var/lib/os': 'of the OS' } });
    return machineOn(machine.files, machine.at(), withVar);
  };

  it('reaches its config, and no temporary files remain', async () => {
    const machine = await start();
    const { files } = machine;
    expect(await machine.update(named('b', after('/bin/app')), RESTART_APP)).toMatchObject({ outcome: 'new' });
    expect(await textAt(files, '/var/lib/a')).toBe('two');
    expect(await files.list('/var/lib')).toEqual(['a', 'os', 'slipway-simulated']);
    expect(await files.list('/home/core/.ssh/authorized_keys.d')).toEqual(['ignition']);
    expect(await machine.update(named('c', before))).toMatchObject({ outcome: 'new' });
    expect(await textAt(files, '/var/lib/os')).toBe('of the OS');
  });

  it('rolls back to exactly its old files', async () => {
    const machine = await start();
    const snapshot = await takeSnapshot(machine.files);
    const result = await machine.update(named('b', after('/bin/false')), RESTART_APP);
    expect(result).toMatchObject({ outcome: 'old', problem: { code: 'SLW_DAEMON_UNIT' } });
    expect(differences(snapshot, await takeSnapshot(machine.files))).toEqual([]);
  });
});

describe('a journal that cannot be used', () => {
  it('of a newer version leaves the machine unchanged and blocks other updates, with an explanation', async () => {
    const machine = await machineAt(withFiles(file('/etc/a', 'one')));
    const { files } = machine;
    await files.makeDirectory(UPDATE_DIRECTORY, { ...ownOwners(), mode: 0o700 });
    const header = { format: 99, program: '9.9.9', from: 'rendered-worker-a', to: 'rendered-worker-b', sha256: 'x' };
    const bytes = Buffer.from(`${JSON.stringify(header)}\nwhatever`);
    await files.createFile(`${UPDATE_DIRECTORY}/configs.json`, { ...ownOwners(), mode: 0o600, bytes });
    const before = await takeSnapshot(files);
    const expected = {
      outcome: 'stuck',
      from: 'rendered-worker-a',
      to: 'rendered-worker-b',
      problem: { code: 'SLW_DAEMON_JOURNAL', message: expect.stringContaining('9.9.9') },
    };
    expect(await machine.recover()).toEqual(expected);
    expect(await machine.update(named('c'))).toEqual(expected);
    expect(differences(before, await takeSnapshot(files))).toEqual([]);
    expect(await textAt(files, `${UPDATE_DIRECTORY}/configs.json`)).toBe(bytes.toString());
  });
});
