import { posix } from 'node:path';
import { type OSFacts, PRESET_PATH } from '@slipway/fleet';
import { silentLog } from '@slipway/kube';
import {
  bootSimulatedMachine,
  createSimulatedHost,
  makeSimulatedMachine,
  type SimulatedMachineOptions,
} from '@slipway/simulator';
import { describe, expect, it } from 'vitest';
import { CONSOLE_MESSAGE, finishFirstBoot, type FirstBoot, missingFromOS } from './first-boot.ts';
import { type FileSystem, makeDirectories, ownOwners, readText } from './host/file-system.ts';
import type { Deployment } from './host/host.ts';
import { copyImage, type DiskImage, emptyImage } from './host/testing/disk-image.ts';
import { createFaultyDisk } from './host/testing/faults.ts';
import { createMemoryDisk } from './host/testing/memory-disk.ts';
import { ENCAPSULATED } from './state-file.ts';
import { readCurrentConfig, type StoredConfig } from './stored-config.ts';

const plain: StoredConfig = { name: 'rendered-worker-a', spec: { config: { ignition: { version: '3.5.0' } } } };
const rich: StoredConfig = {
  name: 'rendered-worker-b',
  spec: { ...plain.spec, kernelArguments: ['nosmt'], osImageURL: 'quay.example/os:2' },
};

async function machineWith(config: StoredConfig, options: SimulatedMachineOptions = {}): Promise<DiskImage> {
  const image = emptyImage(ownOwners());
  const files = createMemoryDisk(image);
  await makeSimulatedMachine(files, { osImage: 'quay.example/os:1', ...options });
  const json = JSON.stringify({ kind: 'MachineConfig', metadata: { name: config.name }, spec: config.spec });
  await files.createFile(ENCAPSULATED, { ...ownOwners(), mode: 0o600, bytes: new TextEncoder().encode(json) });
  return image;
}

const readSimulatedOS = (files: FileSystem) => createSimulatedHost({ root: '/', files }).os.state();

function boot(files: FileSystem, facts?: OSFacts): Promise<FirstBoot> {
  const simulated = createSimulatedHost({ root: '/', files });
  const host =
    facts === undefined ? simulated : { ...simulated, os: { ...simulated.os, facts: () => Promise.resolve(facts) } };
  return finishFirstBoot({ host, log: silentLog(), signal: new AbortController().signal });
}

async function expectHandedOver(files: FileSystem, config: StoredConfig): Promise<void> {
  expect(await readCurrentConfig(files)).toEqual(config);
  expect(await files.lookAt(ENCAPSULATED)).toBeNull();
  expect(await files.lookAt(`${ENCAPSULATED}.bak`)).toMatchObject({ kind: 'file', mode: 0o600 });
  expect(await boot(files)).toEqual({ type: 'nothing' });
}

describe('the service of the first boot', () => {
  it('hands over immediately if the machine matches its config', async () => {
    const files = createMemoryDisk(await machineWith(plain));
    await files.makeDirectory('/etc/systemd/system-preset', { ...ownOwners(), mode: 0o755 });
    await files.createFile(PRESET_PATH, { ...ownOwners(), mode: 0o644, bytes: new Uint8Array() });
    expect(await boot(files)).toEqual({ type: 'done', config: plain.name });
    expect(await files.lookAt(PRESET_PATH)).toBeNull();
    await expectHandedOver(files, plain);
  });

  it('applies OS image and kernel arguments with one reboot, then hands over', async () => {
    const files = createMemoryDisk(await machineWith(rich));
    expect(await boot(files)).toMatchObject({ type: 'rebooting', change: { image: 'quay.example/os:2' } });
    const { booted } = await createSimulatedHost({ root: '/', files }).os.state();
    expect(booted).toMatchObject({ image: 'quay.example/os:2' });
    expect(booted.kernelArguments).toContain('nosmt');
    expect(await boot(files)).toEqual({ type: 'done', config: rich.name });
    await expectHandedOver(files, rich);
  });

  it('starts again after a power cut at any call, and completes in the end', async () => {
    const image = await machineWith(rich);
    let cuts = 0;
    for (let at = 0; ; at += 1) {
      const files = createMemoryDisk(copyImage(image));
      const cut = createFaultyDisk(files, { at, of: 'changes', fault: { kind: 'stop', when: 'before' } });
      const finished = await Promise.race([boot(cut.files).then(() => true), cut.stopped.then(() => false)]);
      if (!finished) {
        cuts += 1;
        await bootSimulatedMachine(files, 'power cut');
      }
      const results: string[] = [];
      for (let boots = 0; boots < 4 && results.at(-1) !== 'nothing'; boots += 1) results.push((await boot(files)).type);
      expect(results.at(-1), `cut ${at}`).toBe('nothing');
      await expectHandedOver(files, rich);
      if (finished) break;
    }
    expect(cuts).toBeGreaterThan(5);
  });

  it('does not reboot endlessly if the OS rejects the staged change', async () => {
    const files = createMemoryDisk(await machineWith(rich));
    const fruitless = async () => {
      const image = await createSimulatedHost({ root: '/', files }).os.state();
      const result = await boot(files);
      // The boot loader was not written: the old deployment boots again.
      const host = createSimulatedHost({ root: '/', files });
      await host.os.stage({ image: image.booted.image, kernelArguments: { removed: ['nosmt'], added: [] } });
      await host.reboot('back');
      return result.type;
    };
    expect([await fruitless(), await fruitless(), await fruitless()]).toEqual(['rebooting', 'rebooting', 'rebooting']);
    await expect(boot(files)).rejects.toMatchObject({
      code: 'SLW_DAEMON_FIRST_BOOT',
      message: expect.stringMatching(/booted 3 times/),
    });
    expect(await files.lookAt(ENCAPSULATED)).not.toBeNull();
  });

  const debian: OSFacts = { name: 'Debian GNU/Linux 13 (trixie)', ability: 'none', architecture: 'amd64' };
  const rhcos: OSFacts = { name: 'Red Hat Enterprise Linux CoreOS 9.6', ability: 'all', architecture: 'amd64' };
  const fips: StoredConfig = { ...plain, spec: { ...plain.spec, fips: true } };

  it.each<[string, StoredConfig, SimulatedMachineOptions, OSFacts, RegExp]>([
    [
      'FIPS mode that the machine was not installed with',
      fips,
      {},
      rhcos,
      /spec\.fips: expected true, but the machine was installed with false.*: reinstall the machine/,
    ],
    [
      'a machine in FIPS mode without a config that says so',
      plain,
      { fips: true },
      rhcos,
      /spec\.fips: expected false, but the machine was installed with true/,
    ],
    [
      'FIPS mode on an OS that ignores it, without the advice to install it again',
      fips,
      {},
      debian,
      /spec\.fips: Debian .* ignores this field.*Remove the setting(?!.*reinstall the machine with)/,
    ],
    [
      'kernel arguments on an OS that cannot change them',
      { ...plain, spec: { ...plain.spec, kernelArguments: ['nosmt'] } },
      {},
      debian,
      /rendered-worker-a, spec\.kernelArguments: Debian .* has neither rpm-ostree nor bootc/,
    ],
  ])('refuses %s, and shows why on the console', async (_, config, options, facts, message) => {
    const files = createMemoryDisk(await machineWith(config, options));
    const before = await readSimulatedOS(files);
    await expect(boot(files, facts)).rejects.toMatchObject({
      code: 'SLW_DAEMON_FIRST_BOOT',
      message: expect.stringMatching(message),
    });
    const shown = await readText(files, CONSOLE_MESSAGE, 10_000);
    expect(shown).toMatch(message);
    expect(shown).toMatch(/its kubelet does not start[^]*journalctl -u machine-config-daemon-firstboot.service/);
    expect(await readSimulatedOS(files)).toEqual(before);
    expect(await files.lookAt(ENCAPSULATED)).not.toBeNull();
  });

  it('removes the message from the console once it succeeds', async () => {
    const files = createMemoryDisk(await machineWith(fips, { fips: true }));
    await makeDirectories(files, posix.dirname(CONSOLE_MESSAGE), ownOwners());
    await files.createFile(CONSOLE_MESSAGE, { ...ownOwners(), mode: 0o644, bytes: new Uint8Array() });
    expect(await boot(files)).toEqual({ type: 'done', config: fips.name });
    expect(await files.lookAt(CONSOLE_MESSAGE)).toBeNull();
  });

  it('succeeds also if that message cannot be removed: the kubelet must start', async () => {
    const files = createMemoryDisk(await machineWith(plain));
    await makeDirectories(files, posix.dirname(CONSOLE_MESSAGE), ownOwners());
    await files.createFile(CONSOLE_MESSAGE, { ...ownOwners(), mode: 0o644, bytes: new Uint8Array() });
    const stuck: FileSystem = {
      ...files,
      remove: (path) => (path === CONSOLE_MESSAGE ? Promise.reject(new Error('EPERM')) : files.remove(path)),
    };
    expect(await boot(stuck)).toEqual({ type: 'done', config: plain.name });
    expect(await boot(stuck)).toEqual({ type: 'nothing' });
  });

  it('rejects a file that is not a MachineConfig, and names it', async () => {
    const files = createMemoryDisk(await machineWith(plain));
    await files.overwrite(ENCAPSULATED, 0, new TextEncoder().encode('half a'));
    await expect(boot(files)).rejects.toMatchObject({
      code: 'SLW_DAEMON_FIRST_BOOT',
      message: expect.stringMatching(/encapsulated/),
    });
  });
});

const digest = `sha256:${'ab'.repeat(32)}`;
const booted: Deployment = {
  image: `quay.example/os@${digest}`,
  digest,
  version: '9.6',
  kernelArguments: ['root=UUID=1', 'console=ttyS0'],
  packages: ['usbguard'],
};
const missing = (spec: StoredConfig['spec']) => missingFromOS(booted, { name: 'rendered-worker-a', spec });

describe('after Ignition, the machine still lacks', () => {
  it.each<[string, StoredConfig['spec'], ReturnType<typeof missing>]>([
    ['nothing, if it was installed with everything', { osImageURL: booted.image, extensions: ['usbguard'] }, null],
    ['nothing, if the same image was pulled from a mirror', { osImageURL: `mirror.example/os@${digest}` }, null],
    ['nothing, if the config does not specify the OS', {}, null],
    ['another OS image', { osImageURL: 'quay.example/os:new' }, { image: 'quay.example/os:new' }],
    [
      'kernel arguments that are missing, also several in one entry',
      { kernelArguments: ['console=ttyS0 nosmt', 'hugepages=8'] },
      {
        kernelArguments: {
          removed: [],
          added: ['nosmt', 'hugepages=8'],
          all: { before: [], after: ['console=ttyS0', 'nosmt', 'hugepages=8'] },
        },
      },
    ],
    [
      'a kernel argument that is desired twice and present once',
      { kernelArguments: ['console=ttyS0', 'console=ttyS0'] },
      {
        kernelArguments: {
          removed: [],
          added: ['console=ttyS0'],
          all: { before: [], after: ['console=ttyS0', 'console=ttyS0'] },
        },
      },
    ],
    [
      'extensions',
      { extensions: ['usbguard', 'sysstat'], baseOSExtensionsContainerImage: 'quay.example/ext:1' },
      { extensions: { before: [], after: ['usbguard', 'sysstat'] }, extensionsImage: 'quay.example/ext:1' },
    ],
    [
      'another kernel',
      { kernelType: 'realtime', baseOSExtensionsContainerImage: 'quay.example/ext:1' },
      { kernelType: { before: 'default', after: 'realtime' }, extensionsImage: 'quay.example/ext:1' },
    ],
  ])('%s', (_, spec, expected) => {
    expect(missing(spec)).toEqual(expected);
  });
});
