// A node whose pool moves from Enterprise Linux 9 to 10 with everything that its OS can carry along: FIPS, the realtime
// kernel and extensions. The real daemon and adapters, with the stand-in for the OS tools.
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nodeAnnotations } from '@slipway/api/names';
import { createSimulatedHost, makeSimulatedMachine } from '@slipway/simulator';
import { createManualClock } from '@slipway/testing/manual-clock';
import { afterEach, describe, expect, it } from 'vitest';
import { file, named, withFiles } from '../apply/testing/small-machine.ts';
import { createDisk } from '../host/disk.ts';
import type { FileSystem } from '../host/file-system.ts';
import type { Host } from '../host/host.ts';
import { openStandInHost } from '../host/testing/stand-in-host.ts';
import { makeStandInMachine, type StandInMachine, type StandInOptions } from '../host/testing/stand-in-machine.ts';
import { type StoredConfig, writeCurrentConfig } from '../stored-config.ts';
import { applyDrain, desire, isDown, type NodeInCluster, nodeInCluster } from './testing/node-in-cluster.ts';

const image = (name: string, digit: string) => `quay.example/${name}@sha256:${digit.repeat(64)}`;
const OS_9 = image('os', '9');
const OS_10 = image('os', 'a');
const EXTENSIONS_9 = image('extensions', '8');
const EXTENSIONS_10 = image('extensions', 'b');
/** A later release, with all extensions. */
const FIXED_EXTENSIONS_10 = image('extensions', 'c');

const KERNEL = ['kernel-rt-core', 'kernel-rt-modules', 'kernel-rt-modules-extra'];
const PACKAGES = ['kata-containers', ...KERNEL, 'usbguard'];
const REGISTRY: StandInOptions['registry'] = {
  [OS_9]: { bootable: true, version: '9.6' },
  [OS_10]: { bootable: true, version: '10.1' },
  [EXTENSIONS_9]: { bootable: false, version: '9.6', packages: [...PACKAGES, 'sysstat'] },
  [EXTENSIONS_10]: { bootable: false, version: '10.1', packages: [...PACKAGES, 'sysstat'] },
  [FIXED_EXTENSIONS_10]: { bootable: false, version: '10.1', packages: PACKAGES },
};

/** The file shows whether a rollback is complete. */
const configOf = (name: string, osImageURL: string, extensionsImage: string, more: object = {}): StoredConfig =>
  named(name, {
    ...withFiles(file('/etc/release', name)),
    fips: true,
    kernelType: 'realtime',
    extensions: ['usbguard', 'sandboxed-containers'],
    kernelArguments: ['nosmt'],
    osImageURL,
    baseOSExtensionsContainerImage: extensionsImage,
    ...more,
  });
const on9 = configOf('9', OS_9, EXTENSIONS_9);
const on10 = configOf('10', OS_10, EXTENSIONS_10);

const TIMEOUT = 'Error: dial tcp 10.0.0.9:443: i/o timeout';

const directories: string[] = [];
afterEach(async () => {
  await Promise.all(directories.splice(0).map((directory) => rm(directory, { recursive: true, force: true })));
});

interface Life {
  readonly machine: StandInMachine;
  readonly node: () => NodeInCluster;
  readonly reboots: () => number;
  /** Follows the config through drains and reboots, until the node waits. */
  follow(config: StoredConfig): Promise<void>;
  /** As above, after some time. */
  goOn(afterMs: number): Promise<void>;
}

interface LifeOptions {
  readonly programs: StandInOptions['programs'];
  readonly isComposefs?: boolean;
  readonly start?: StoredConfig;
  /** Changes the host of each boot. */
  readonly wrap?: (host: Host, machine: StandInMachine) => Host;
}

/** Does not sync: most of the time would go there. */
const diskOf = ({ root }: StandInMachine): FileSystem => ({
  ...createDisk({ root }),
  syncFile: async () => {},
  syncDirectory: async () => {},
});

/** On 9 with everything that `start` has, as after its first boot. */
async function startLife({ programs, isComposefs = false, start = on9, wrap = (host) => host }: LifeOptions) {
  const directory = await mkdtemp(join(tmpdir(), 'slipway-migration-'));
  directories.push(directory);
  const machine = await makeStandInMachine(directory, {
    programs,
    isComposefs,
    osRelease: 'ID=rhcos\nRHEL_VERSION="9.6"\n',
    called: 'as functions',
    image: OS_9,
    kernelArguments: ['root=UUID=stand-in', 'fips=1', 'nosmt'],
    registry: REGISTRY,
  });
  const files = diskOf(machine);
  await makeSimulatedMachine(files, { files: { '/etc/release': '9' } });
  const { os } = await openStandInHost(machine, createSimulatedHost({ root: machine.root, files }));
  const { extensions = [], kernelType = 'default' } = start.spec;
  await os.stage({
    extensions: { before: [], after: extensions },
    kernelType: { before: 'default', after: kernelType },
    extensionsImage: EXTENSIONS_9,
  });
  machine.boot();
  machine.change({ calls: [], pulled: [] });
  await writeCurrentConfig(files, start);
  return liveOn({ machine, start, wrap });
}

async function liveOn({
  machine,
  start,
  wrap,
}: Required<Pick<LifeOptions, 'start' | 'wrap'>> & { machine: StandInMachine }) {
  const files = diskOf(machine);
  const clock = createManualClock();
  const annotations: Record<string, string> = {};
  let target = start;
  let reboots = 0;
  let node = await boot();

  async function boot(): Promise<NodeInCluster> {
    const onReboot = () => void (reboots += 1);
    const host = await openStandInHost(machine, createSimulatedHost({ root: machine.root, files, onReboot }));
    const booted = await nodeInCluster({ current: start, files, annotations, clock, wrap: () => wrap(host, machine) });
    desire(booted, target);
    return booted;
  }

  async function settle(): Promise<void> {
    for (let rounds = 0; rounds < 20; rounds += 1) {
      await node.settle();
      const { [nodeAnnotations.desiredDrain]: drain, [nodeAnnotations.lastAppliedDrain]: applied } = annotations;
      if (isDown(node)) node = await boot();
      else if (drain === undefined || drain === applied) return;
      else applyDrain(node);
    }
    throw new Error('the node does not settle');
  }

  const life: Life = {
    machine,
    node: () => node,
    reboots: () => reboots,
    async follow(config) {
      target = config;
      desire(node, config);
      await settle();
    },
    async goOn(afterMs) {
      await clock.advance(afterMs);
      await settle();
    },
  };
  await settle();
  return life;
}

/** What changes something, in order. */
const listCommands = ({ machine }: Life): string[] =>
  machine
    .state()
    .calls.filter((call) =>
      /^(podman (pull|create|cp)|bootc (switch|loader)|rpm-ostree (rebase|kargs --[ad]|override|update))/.test(call),
    );

const isOn = ({ node, machine }: Life, config: StoredConfig) => {
  const { booted, staged, containers } = machine.state();
  return {
    config: node().local.current()?.name === config.name,
    state: node().annotations[nodeAnnotations.state],
    image: booted.reference.slice(booted.reference.indexOf('quay.example')),
    kernelArguments: booted.kernelArguments,
    packages: booted.packages.toSorted(),
    staged,
    containers,
  };
};
const OK_9 = {
  config: true,
  state: 'Done',
  image: OS_9,
  kernelArguments: ['root=UUID=stand-in', 'fips=1', 'nosmt'],
  packages: PACKAGES,
  staged: null,
  containers: {},
};
const OK_10 = { ...OK_9, image: OS_10 };
/** Rolled back, with everything that it had. */
const BACK_ON_9 = { ...OK_9, state: 'Degraded' };

async function expectNothingLeft({ machine }: Life): Promise<void> {
  expect(await readdir(join(machine.root, 'etc/yum.repos.d'))).toEqual([]);
  expect(await readdir(join(machine.root, 'run'))).not.toContain('slipway-extensions');
}

const DEFAULT_KERNEL = 'kernel kernel-core kernel-modules kernel-modules-core kernel-modules-extra';
const REPLACE_KERNEL = [
  `rpm-ostree override reset ${DEFAULT_KERNEL} --uninstall kernel-rt-core --uninstall kernel-rt-modules --uninstall kernel-rt-modules-extra`,
  `rpm-ostree override remove ${DEFAULT_KERNEL} --install kernel-rt-core --install kernel-rt-modules --install kernel-rt-modules-extra`,
] as const;

// A machine with bootc is changed by rpm-ostree as long as it has packages, which bootc refuses.
describe.each<[string, StandInOptions['programs']]>([
  ['rpm-ostree', ['rpm-ostree', 'podman']],
  ['bootc and rpm-ostree', ['rpm-ostree', 'bootc', 'podman']],
])('a node with %s', (_, programs) => {
  it('moves to 10 with FIPS, the realtime kernel and extensions in one reboot, and pulls before its drain', async () => {
    const life = await startLife({ programs });
    expect(isOn(life, on9)).toEqual(OK_9);
    await life.follow(on10);
    expect(isOn(life, on10)).toEqual(OK_10);
    expect(life.reboots()).toBe(1);
    expect(listCommands(life)).toEqual([
      `podman pull ${OS_10}`,
      `podman pull ${EXTENSIONS_10}`,
      `podman create --net=none --name slipway-extensions ${EXTENSIONS_10}`,
      'podman cp slipway-extensions:/ /run/slipway-extensions',
      REPLACE_KERNEL[0],
      `rpm-ostree rebase --experimental ostree-unverified-image:containers-storage:${OS_10}`,
      REPLACE_KERNEL[1],
    ]);
    await expectNothingLeft(life);
  });

  it('changes kernel arguments and extensions in the same reboot', async () => {
    const life = await startLife({ programs });
    const more = { extensions: ['usbguard', 'sysstat'], kernelArguments: ['nosmt', 'quiet'] };
    const target = configOf('more', OS_10, EXTENSIONS_10, more);
    await life.follow(target);
    expect(isOn(life, target)).toEqual({
      ...OK_10,
      kernelArguments: ['root=UUID=stand-in', 'fips=1', 'nosmt', 'quiet'],
      packages: [...KERNEL, 'sysstat', 'usbguard'],
    });
    expect(life.reboots()).toBe(1);
  });

  it('repeats a pull that the network interrupts', async () => {
    const life = await startLife({ programs });
    life.machine.fail({ call: `podman pull ${OS_10}`, stderr: TIMEOUT, times: 2 });
    await life.follow(on10);
    expect(isOn(life, on10)).toEqual(OK_10);
  });

  it.each<[string, (machine: StandInMachine) => void]>([
    [
      'the registry cannot be reached',
      (machine) => machine.fail({ call: `podman pull ${OS_10}`, stderr: TIMEOUT, times: 3 }),
    ],
    [
      'a mirror lacks an image',
      (machine) => {
        const { [EXTENSIONS_10]: _missing, ...incomplete } = REGISTRY;
        machine.change({ registry: incomplete });
      },
    ],
  ])('stays on 9, undrained, while %s, and moves within a minute of the recovery', async (_what, fail) => {
    const life = await startLife({ programs });
    fail(life.machine);
    await life.follow(on10);
    expect(isOn(life, on9)).toEqual(BACK_ON_9);
    expect(life.node().told.at(-1)).toMatch(/preparing.*Degraded SLW_DAEMON_OS/);
    expect(life.node().told.join()).not.toContain('draining');
    life.machine.change({ registry: REGISTRY });
    await life.goOn(60_000);
    expect(isOn(life, on10)).toEqual(OK_10);
    expect(life.reboots()).toBe(1);
  });

  it('returns to 9 with its packages, without a reboot, if 10 lacks an extension, and moves when a release has it', async () => {
    const life = await startLife({ programs });
    const lacking = { bootable: false, version: '10.1', packages: [...KERNEL, 'usbguard'] };
    life.machine.change({ registry: { ...REGISTRY, [EXTENSIONS_10]: lacking } });
    await life.follow(on10);
    expect(isOn(life, on9)).toEqual(BACK_ON_9);
    expect(life.reboots()).toBe(0);
    expect(life.node().annotations[nodeAnnotations.reason]).toMatch(/Packages not found: kata-containers/);
    await expectNothingLeft(life);
    const fixed = configOf('fixed', OS_10, FIXED_EXTENSIONS_10);
    await life.follow(fixed);
    expect(isOn(life, fixed)).toEqual(OK_10);
    expect(life.reboots()).toBe(1);
  });

  it('returns to 9 with its packages if 10 comes up without FIPS', async () => {
    const life = await startLife({
      programs,
      wrap: (host, machine) => ({
        ...host,
        os: { ...host.os, fips: async () => machine.state().booted.version === '9.6' },
      }),
    });
    await life.follow(on10);
    expect(isOn(life, on9)).toEqual(BACK_ON_9);
    expect(life.reboots()).toBe(2);
    expect(life.node().annotations[nodeAnnotations.reason]).toMatch(/fips/i);
    expect(listCommands(life).slice(7)).toEqual([
      `podman create --net=none --name slipway-extensions ${EXTENSIONS_9}`,
      'podman cp slipway-extensions:/ /run/slipway-extensions',
      REPLACE_KERNEL[0],
      `rpm-ostree rebase --experimental ostree-unverified-registry:${OS_9}`,
      REPLACE_KERNEL[1],
    ]);
    await expectNothingLeft(life);
  });
});

describe('a node with bootc', () => {
  const plain = { extensions: [], kernelType: 'default' };
  const [plainOn9, plainOn10] = [configOf('9', OS_9, '', plain), configOf('10', OS_10, '', plain)];

  it.each<[string, Omit<LifeOptions, 'start'>]>([
    ['also with rpm-ostree', { programs: ['rpm-ostree', 'bootc', 'podman'] }],
    ['alone', { programs: ['bootc', 'podman'], isComposefs: true }],
  ])('%s moves to 10 with FIPS by bootc if it has no packages', async (_, options) => {
    const life = await startLife({ ...options, start: plainOn9 });
    await life.follow(plainOn10);
    expect(isOn(life, plainOn10)).toEqual({ ...OK_10, packages: [] });
    expect(life.reboots()).toBe(1);
    expect(listCommands(life)).toEqual([
      `podman pull ${OS_10}`,
      `bootc switch --transport containers-storage ${OS_10}`,
    ]);
  });

  it('alone stays on 9 if its pool moves to 10 with a realtime kernel, which it cannot install', async () => {
    const life = await startLife({ programs: ['bootc', 'podman'], isComposefs: true, start: plainOn9 });
    await life.follow(on10);
    expect(isOn(life, plainOn9)).toEqual({ ...BACK_ON_9, packages: [] });
    expect(life.reboots()).toBe(0);
    // Neither drained nor made to download anything.
    const { annotations } = life.node();
    expect(annotations[nodeAnnotations.reason]).toMatch(/cannot install the kernel realtime/);
    expect(annotations[nodeAnnotations.desiredDrain]).toBeUndefined();
    expect(listCommands(life)).toEqual([]);
  });
});
