import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDisk, type FileSystem, type Host, ownOwners, readText, replaceFile } from '@slipway/daemon/host';
import { afterEach, describe, expect, it } from 'vitest';
import {
  bootSimulatedMachine,
  createSimulatedHost,
  makeSimulatedMachine,
  type SimulatedMachineOptions,
} from './simulated-host.ts';
import { listRecordedActions } from './systemd.ts';

const IMAGE = `quay.example/os@sha256:${'a'.repeat(64)}`;
const NEWER = `quay.example/os@sha256:${'b'.repeat(64)}`;
const SERVICE = '[Service]\nExecStart=/usr/bin/true\n[Install]\nWantedBy=multi-user.target\n';
const roots: string[] = [];

afterEach(async () => {
  await Promise.all(roots.splice(0).map((root) => rm(root, { recursive: true, force: true })));
});

async function machine(
  options: SimulatedMachineOptions = {},
  onReboot?: () => void,
): Promise<{ host: Host; files: FileSystem }> {
  const root = await mkdtemp(join(tmpdir(), 'slipway-simulated-'));
  roots.push(root);
  const files = createDisk({ root });
  await makeSimulatedMachine(files, { osImage: IMAGE, ...options });
  return { files, host: createSimulatedHost({ root, files, ...(onReboot && { onReboot }) }) };
}

describe('a simulated machine', () => {
  it('is booted from its initial image, with nothing staged', async () => {
    const { host } = await machine({ kernelArguments: ['quiet'] });
    const { booted, staged } = await host.os.state();
    expect(booted).toMatchObject({ image: IMAGE, digest: `sha256:${'a'.repeat(64)}`, packages: [] });
    expect(booted.kernelArguments).toContain('quiet');
    expect(staged).toBeNull();
    expect(await host.os.describe()).toEqual({ name: 'Simulated machine', version: '9.6' });
  });

  it('stays unchanged when it is created a second time', async () => {
    const { host, files } = await machine();
    const before = await host.bootId();
    await makeSimulatedMachine(files, { osImage: NEWER });
    expect(await host.bootId()).toBe(before);
    expect((await host.os.state()).booted.image).toBe(IMAGE);
  });

  it.each([
    ['no JSON', '{'],
    ['a list', '[]'],
    ['a list in place of the booted deployment', '{"bootId":"a","fips":false,"booted":[],"staged":null}'],
    ['without a boot ID', '{"fips":false,"booted":null,"staged":null}'],
  ])('is rejected if its state is %s', async (_, text) => {
    const { host, files } = await machine();
    const state = '/var/lib/slipway-simulated/os.json';
    await replaceFile(files, state, { ...ownOwners(), bytes: Buffer.from(text), mode: 0o644 });
    await expect(host.bootId()).rejects.toMatchObject({ code: 'SLW_DAEMON_HOST' });
  });

  it('boots the staged deployment, with a new boot ID and an empty /run', async () => {
    let reboots = 0;
    const { host, files } = await machine({ kernelArguments: ['quiet', 'a', 'a'] }, () => (reboots += 1));
    const before = await host.bootId();
    await host.os.stage({
      image: NEWER,
      kernelArguments: { removed: ['a'], added: ['b'] },
      extensions: { before: [], after: ['kernel-devel'] },
    });
    await host.os.stage({ image: NEWER, kernelArguments: { removed: ['a'], added: ['b'] } });
    expect((await host.os.state()).booted.image).toBe(IMAGE);
    await host.systemd.daemonReload();
    await host.reboot('a test');
    expect(await host.bootId()).not.toBe(before);
    expect(reboots).toBe(1);
    const { booted, staged } = await host.os.state();
    expect(staged).toBeNull();
    expect(booted).toMatchObject({ image: NEWER, packages: [] });
    expect(booted.kernelArguments.slice(-3)).toEqual(['quiet', 'a', 'b']);
    expect(await files.list('/run')).toEqual([]);
  });

  it('loses the staged deployment in a power cut, and when it is discarded', async () => {
    const { host, files } = await machine();
    await host.os.stage({ image: NEWER });
    await bootSimulatedMachine(files, 'power cut');
    expect(await host.os.state()).toMatchObject({ booted: { image: IMAGE }, staged: null });
    await host.os.stage({ image: NEWER });
    await host.os.discard();
    expect((await host.os.state()).staged).toBeNull();
  });

  it('has the packages of extensions and of another kernel, and removes them', async () => {
    const { host } = await machine();
    await host.os.stage({
      extensions: { before: [], after: ['usbguard'] },
      kernelType: { before: 'default', after: 'realtime' },
    });
    await host.reboot('a test');
    expect((await host.os.state()).booted.packages).toEqual([
      'kernel-rt-core',
      'kernel-rt-modules',
      'kernel-rt-modules-extra',
      'usbguard',
    ]);
    await host.os.stage({ kernelType: { before: 'realtime', after: 'default' } });
    await host.reboot('a test');
    expect((await host.os.state()).booted.packages).toEqual(['usbguard']);
  });

  it('knows users and groups from its files, including those of the image', async () => {
    const { host } = await machine();
    const { accounts } = host;
    // Without root, every owner is the current user.
    const seen = (uid: number, gid: number) => (ownOwners().uid === 0 ? { uid, gid } : ownOwners());
    expect(await accounts.owners({ name: 'chrony' }, { name: 'core' })).toEqual(seen(991, 1000));
    expect(await accounts.owners({ id: 5 }, { id: 6 })).toEqual(seen(5, 6));
    expect(await accounts.home('core')).toEqual({ ...seen(1000, 1000), path: '/home/core' });
    expect(await accounts.home('nobody')).toBeUndefined();
    await expect(accounts.owners({ name: 'gone' }, { id: 0 })).rejects.toThrow(/no user gone/);
  });

  it('changes the password hash of one user, and keeps the file readable by root only', async () => {
    const { host, files } = await machine();
    await host.accounts.setPasswordHash('core', '$6$salt$hash');
    expect(await host.accounts.passwordHash('core')).toBe('$6$salt$hash');
    expect(await host.accounts.passwordHash('root')).toBe('*');
    expect(await files.lookAt('/etc/shadow')).toMatchObject({ mode: 0o600 });
    await expect(host.accounts.setPasswordHash('gone', '*')).rejects.toThrow(/no user gone/);
  });

  it('records which units were reloaded and restarted, and rejects one that cannot start', async () => {
    const { host, files } = await machine({ units: { 'bad.service': '[Service]\nExecStart=-/bin/false\n' } });
    await host.systemd.daemonReload();
    await host.systemd.reload('crio.service');
    await host.systemd.restart('kubelet.service');
    await expect(host.systemd.restart('bad.service')).rejects.toThrow(/Cannot restart bad.service/);
    await expect(host.systemd.restart('none.service')).rejects.toThrow(/no such unit file/);
    expect(await listRecordedActions(files)).toEqual([
      { what: 'daemon-reload', name: '' },
      { what: 'reload', name: 'crio.service' },
      { what: 'restart', name: 'kubelet.service' },
    ]);
  });

  it('enables a unit with the links of its [Install] section, and disables those of an earlier one too', async () => {
    const { host, files } = await machine({ units: { 'a.service': SERVICE } });
    const wants = '/etc/systemd/system/multi-user.target.wants';
    await host.systemd.enable(['a.service', 'crio.service']);
    await host.systemd.enable(['a.service']);
    expect(await files.list(wants)).toEqual(['a.service', 'crio.service']);
    expect(await host.systemd.enablement('a.service')).toBe('enabled');
    await files.remove('/usr/lib/systemd/system/a.service');
    expect(await host.systemd.enablement('a.service')).toBe('not-found');
    await host.systemd.disable(['a.service', 'crio.service']);
    expect(await files.lookAt(wants)).toBeNull();
    expect(await readText(files, '/usr/lib/systemd/system/crio.service', 1000)).toContain('Containers');
  });

  it('enables none of several units if one does not exist', async () => {
    const { host } = await machine();
    await expect(host.systemd.enable(['crio.service', 'none.service'])).rejects.toThrow(/Cannot enable none.service/);
    expect(await host.systemd.enablement('crio.service')).toBe('disabled');
  });

  it('presets a unit according to the files of the OS', async () => {
    const { host } = await machine({ units: { 'a.service': SERVICE } });
    await host.systemd.enable(['a.service']);
    await host.systemd.preset(['a.service', 'chronyd.service', 'none.service']);
    expect(await host.systemd.enablement('a.service')).toBe('disabled');
    expect(await host.systemd.enablement('chronyd.service')).toBe('enabled');
  });
});
