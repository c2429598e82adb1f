// The real adapters with the stand-in for the OS tools. open-os.e2e.test.ts runs it as a program.
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createDisk } from '../disk.ts';
import type { OperatingSystem } from '../host.ts';
import { makeStandInMachine, type StandInMachine, type StandInOptions } from '../testing/stand-in-machine.ts';
import { openOS } from './open-os.ts';

const OLD = `quay.example/os@sha256:${'a'.repeat(64)}`;
const NEW = `quay.example/os@sha256:${'b'.repeat(64)}`;
const EXTENSIONS = `quay.example/extensions@sha256:${'c'.repeat(64)}`;
const NOT_AN_OS = 'quay.example/httpd:1';
const EL9 = 'ID=rhcos\nRHEL_VERSION="9.6"\nNAME="Red Hat Enterprise Linux CoreOS"\n';
const RETRY_POLICY = { busyForMs: 200, busyEveryMs: 10, network: { firstMs: 10, maxMs: 10 }, networkRetries: 2 };
const signal = new AbortController().signal;
const directories: string[] = [];

afterEach(async () => {
  await Promise.all(directories.splice(0).map((directory) => rm(directory, { recursive: true, force: true })));
});

async function open(
  options: Partial<StandInOptions> = {},
): Promise<{ machine: StandInMachine; os: OperatingSystem; kind: string }> {
  const directory = await mkdtemp(join(tmpdir(), 'slipway-os-'));
  directories.push(directory);
  const machine = await makeStandInMachine(directory, {
    programs: ['rpm-ostree', 'podman'],
    osRelease: EL9,
    called: 'as functions',
    image: OLD,
    registry: {
      [OLD]: { bootable: true },
      [NEW]: { bootable: true },
      [NOT_AN_OS]: { bootable: false },
      [EXTENSIONS]: {
        bootable: false,
        packages: ['usbguard', 'sysstat', 'kernel-rt-core', 'kernel-rt-modules', 'kernel-rt-modules-extra'],
      },
    },
    ...options,
  });
  const opened = await openOS({
    files: createDisk({ root: machine.root }),
    run: machine.run,
    patience: RETRY_POLICY,
    commandLine: () => machine.commandLine(),
  });
  return { machine, ...opened };
}

const listChanges = (machine: StandInMachine) =>
  machine
    .state()
    .calls.filter((call) => /^(bootc (switch|loader)|rpm-ostree (rebase|kargs --[ad]|override|update))/.test(call));

describe('rpm-ostree', () => {
  it('applies another image from podman’s store, arguments and packages, all at the next boot', async () => {
    const { machine, os, kind } = await open();
    expect(kind).toBe('rpm-ostree');
    expect(await os.facts()).toMatchObject({ name: 'Red Hat Enterprise Linux CoreOS', ability: 'all' });
    const lines: string[] = [];
    await os.prefetch([NEW, EXTENSIONS], ({ text }) => lines.push(text), signal);
    expect(lines).toContain(`Pulling ${NEW}`);
    expect(machine.state().pulled).toEqual([NEW, EXTENSIONS]);

    await os.stage({
      image: NEW,
      kernelArguments: { removed: ['quiet'], added: ['a=1', 'quiet'] },
      extensions: { before: [], after: ['usbguard'] },
      kernelType: { before: 'default', after: 'realtime' },
      extensionsImage: EXTENSIONS,
    });
    const { booted, staged } = await os.state();
    expect(booted).toMatchObject({ image: OLD, packages: [] });
    expect(staged).toMatchObject({ image: NEW, digest: `sha256:${'b'.repeat(64)}` });
    expect(staged?.kernelArguments.slice(0, 3)).toEqual(['root=UUID=stand-in', 'a=1', 'quiet']);
    expect(listChanges(machine)[0]).toBe(
      `rpm-ostree rebase --experimental ostree-unverified-image:containers-storage:${NEW}`,
    );
    expect(await readdir(join(machine.root, 'etc/yum.repos.d'))).toEqual([]);
    expect(await readdir(join(machine.root, 'run'))).not.toContain('slipway-extensions');

    machine.boot();
    expect(await os.state()).toMatchObject({ booted: { image: NEW }, staged: null });
    expect((await os.state()).booted.packages).toContain('kernel-rt-core');
  });

  it('is idempotent, and starts from the booted deployment', async () => {
    const { machine, os } = await open();
    await os.stage({ image: NEW, kernelArguments: { removed: [], added: ['a=1'] } });
    await os.stage({ image: NEW, kernelArguments: { removed: [], added: ['b=1'] } });
    const { staged } = await os.state();
    expect(staged?.image).toBe(NEW);
    expect(staged?.kernelArguments).toContain('b=1');
    expect(staged?.kernelArguments).not.toContain('a=1');
    machine.boot('power cut');
    expect(await os.state()).toMatchObject({ booted: { image: OLD }, staged: null });
  });

  it('changes nothing if the machine already matches', async () => {
    const { machine, os } = await open();
    await os.stage({ image: OLD, kernelArguments: { removed: ['not there'], added: [] } });
    expect((await os.state()).staged).toBeNull();
    expect(listChanges(machine)).toEqual(['rpm-ostree kargs --delete-if-present=not there']);
  });

  it('succeeds if the image turns out to be staged already, and fails if another one is', async () => {
    const { machine, os } = await open();
    const equal = `error: Old and new refs are equal: ostree-unverified-registry:${NEW}`;
    machine.fail({ call: 'rpm-ostree rebase', stderr: equal });
    await expect(os.stage({ image: NEW })).rejects.toThrow(/Old and new refs are equal/);

    const { run } = machine;
    const files = createDisk({ root: machine.root });
    const again = await openOS({
      files,
      patience: RETRY_POLICY,
      run: async (command) => {
        const result = await run(command);
        // Another client is faster between two calls.
        if (command.args[0] === 'cleanup') {
          machine.change({ staged: { ...machine.state().booted, reference: `ostree-unverified-registry:${NEW}` } });
        }
        return result;
      },
    });
    await again.os.stage({ image: NEW });
    expect((await again.os.state()).staged?.image).toBe(NEW);
  });

  it('discards the whole change if one step fails, including its package repository', async () => {
    const { machine, os } = await open();
    const change = os.stage({
      image: NEW,
      extensions: { before: [], after: ['kerberos'] },
      extensionsImage: EXTENSIONS,
    });
    await expect(change).rejects.toMatchObject({ code: 'SLW_DAEMON_OS', failure: 'packages', retry: false });
    expect((await os.state()).staged).toBeNull();
    expect(await readdir(join(machine.root, 'etc/yum.repos.d'))).toEqual([]);
    expect(machine.state().containers).toEqual({});
  });

  it('waits for another transaction, and gives up after a limited time', async () => {
    const { machine, os } = await open();
    machine.fail({ call: 'rpm-ostree kargs --append', stderr: 'error: Transaction in progress: cleanup ', times: 3 });
    await os.stage({ kernelArguments: { removed: [], added: ['x'] } });
    expect((await os.state()).staged?.kernelArguments).toContain('x');
    machine.fail({ call: 'rpm-ostree cleanup', stderr: 'error: System transaction in progress', times: 1000 });
    await expect(os.discard()).rejects.toMatchObject({ failure: 'busy', retry: true });
  });

  it('retries a pull after a network failure, a limited number of times', async () => {
    const { machine, os } = await open();
    const stderr = 'Error: dial tcp 10.0.0.9:443: i/o timeout';
    machine.fail({ call: 'podman pull', stderr, times: 2 });
    await os.prefetch([NEW], () => undefined, signal);
    expect(machine.state().pulled).toEqual([NEW]);
    machine.fail({ call: 'podman pull', stderr, times: 3 });
    await expect(os.prefetch([EXTENSIONS], () => undefined, signal)).rejects.toMatchObject({ failure: 'network' });
  });

  it('does not pull what is present, and leaves pulling to rpm-ostree without podman', async () => {
    const { machine, os } = await open();
    machine.change({ pulled: [NEW] });
    await os.prefetch([NEW], () => undefined, signal);
    expect(machine.state().calls.some((call) => call.startsWith('podman pull'))).toBe(false);

    const without = await open({ programs: ['rpm-ostree'] });
    await without.os.prefetch([NEW], () => undefined, signal);
    await without.os.stage({ image: NEW });
    expect(listChanges(without.machine)).toEqual([
      `rpm-ostree rebase --experimental ostree-unverified-registry:${NEW}`,
    ]);
  });

  it('gives podman and ostree the pull secret of the kubelet', async () => {
    const { machine } = await open();
    await mkdir(join(machine.root, 'var/lib/kubelet'), { recursive: true });
    await writeFile(join(machine.root, 'var/lib/kubelet/config.json'), '{"auths":{}}');
    const files = createDisk({ root: machine.root });
    const { os } = await openOS({ files, run: machine.run, patience: RETRY_POLICY });
    await os.prefetch([NEW], () => undefined, signal);
    expect(machine.state().calls.at(-1)).toBe(`podman pull --authfile /var/lib/kubelet/config.json ${NEW}`);
    expect(await files.lookAt('/run/ostree/auth.json')).toMatchObject({ target: '/var/lib/kubelet/config.json' });
  });

  it('distinguishes an image that is not an OS image from one that does not exist', async () => {
    const { os } = await open();
    await expect(os.stage({ image: NOT_AN_OS })).rejects.toMatchObject({ failure: 'bad image' });
    await expect(os.stage({ image: 'quay.example/none:1' })).rejects.toMatchObject({ failure: 'not found' });
  });

  it('notices a change that is not staged although the command succeeded', async () => {
    const { machine } = await open();
    const { os } = await openOS({
      files: createDisk({ root: machine.root }),
      patience: RETRY_POLICY,
      run: (command) =>
        command.args[0] === 'rebase' ? Promise.resolve({ status: 0, stdout: '', stderr: '' }) : machine.run(command),
    });
    await expect(os.stage({ image: NEW })).rejects.toThrow(/does not match the request.*Expected the image/);
  });
});

describe('bootc', () => {
  const programs = ['rpm-ostree', 'bootc', 'podman'] as const;

  it('applies the image, and rpm-ostree the arguments', async () => {
    const { machine, os, kind } = await open({ programs });
    expect(kind).toBe('bootc');
    expect(await os.facts()).toMatchObject({ ability: 'all' });
    await os.prefetch([NEW], () => undefined, signal);
    await os.stage({ image: NEW, kernelArguments: { removed: ['quiet'], added: ['a=1'] } });
    expect(listChanges(machine)).toEqual([
      `bootc switch --transport containers-storage ${NEW}`,
      'rpm-ostree kargs --delete-if-present=quiet --append=a=1',
    ]);
    machine.boot();
    expect((await os.state()).booted).toMatchObject({ image: NEW });
    await os.stage({ image: OLD });
    await os.discard();
    expect((await os.state()).staged).toBeNull();
  });

  it('leaves a machine with layered packages to rpm-ostree', async () => {
    const { machine, os } = await open({ programs });
    const extensions = { before: [], after: ['usbguard'] };
    await os.stage({ extensions, extensionsImage: EXTENSIONS });
    machine.boot();
    const files = createDisk({ root: machine.root });
    const again = await openOS({ files, run: machine.run, patience: RETRY_POLICY });
    expect(again.kind).toBe('rpm-ostree');
    await again.os.stage({ image: NEW, extensionsImage: EXTENSIONS });
    expect((await again.os.state()).staged).toMatchObject({ image: NEW, packages: ['usbguard'] });
  });

  it('alone applies image and arguments, rolls them back, and rejects packages', async () => {
    const { machine, os, kind } = await open({ programs: ['bootc', 'podman'], isComposefs: true });
    expect(kind).toBe('bootc');
    expect(await os.facts()).toMatchObject({ ability: 'image-and-kernel-arguments' });
    const kernelArguments = { removed: [], added: ['a=1'], all: { before: [], after: ['a=1'] } };
    await os.stage({ image: NEW, kernelArguments });
    expect(listChanges(machine)).toEqual([
      `bootc switch ${NEW}`,
      'bootc loader-entries set-options-for-source --source slipway --options a=1',
    ]);
    await os.discard();
    machine.boot();
    expect((await os.state()).booted.image).toBe(OLD);
    expect((await os.state()).booted.kernelArguments).not.toContain('a=1');

    await os.stage({ image: NEW, kernelArguments });
    machine.boot();
    expect((await os.state()).booted.image).toBe(NEW);
    expect((await os.state()).booted.kernelArguments).toContain('a=1');
    const packages = os.stage({ extensions: { before: [], after: ['usbguard'] } });
    await expect(packages).rejects.toMatchObject({ failure: 'unsupported' });
  });
});

describe('a machine with neither', () => {
  it('has no image, and refuses to change its OS, naming the requested change', async () => {
    const { os, kind } = await open({ programs: [], osRelease: 'ID=debian\nNAME=Debian\n' });
    expect(kind).toBe('plain');
    expect(await os.facts()).toMatchObject({
      name: 'Debian',
      ability: 'none',
      architecture: expect.stringMatching(/./),
    });
    expect(await os.state()).toMatchObject({ booted: { image: '', packages: [] }, staged: null });
    await os.stage({});
    await os.discard();
    await expect(os.stage({ image: NEW })).rejects.toThrow(
      /^spec.osImageURL: Debian has neither rpm-ostree nor bootc, so Slipway cannot change its OS image \(unsupported\)\. [^:]*$/,
    );
  });
});

it.each([
  ['on, as its kernel reports', true, async () => '1\n'],
  ['off, as its kernel reports', false, async () => '0\n'],
  ['missing in a kernel that was built without it', null, () => readFile('/proc/no-such-file', 'utf8')],
])('FIPS mode is %s', async (_, expected, fipsEnabled) => {
  const { machine } = await open();
  const files = createDisk({ root: machine.root });
  const { os } = await openOS({ files, run: machine.run, patience: RETRY_POLICY, fipsEnabled });
  expect(await os.fips()).toBe(expected);
});

it('FIPS mode that cannot be read is an error, and neither on nor off', async () => {
  const { machine } = await open();
  const files = createDisk({ root: machine.root });
  const fipsEnabled = () => Promise.reject(new Error('EMFILE: too many open files'));
  const { os } = await openOS({ files, run: machine.run, patience: RETRY_POLICY, fipsEnabled });
  await expect(os.fips()).rejects.toThrow('EMFILE');
});
