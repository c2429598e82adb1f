// The real adapters with the stand-in for rpm-ostree, bootc and podman as child processes, as on a machine.
// open-os.test.ts covers the rest.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createDisk } from '../disk.ts';
import type { OperatingSystem } from '../host.ts';
import { FAILURE_TEXTS } from '../testing/failure-texts.ts';
import { makeStandInMachine, type StandInMachine, type StandInOptions } from '../testing/stand-in-machine.ts';
import { openOS } from './open-os.ts';
import { createOSRun } from './os-commands.ts';

const OLD = `quay.example/os@sha256:${'a'.repeat(64)}`;
const NEW = `quay.example/os@sha256:${'b'.repeat(64)}`;
const EXTENSIONS = `quay.example/extensions@sha256:${'c'.repeat(64)}`;
const signal = new AbortController().signal;
const directories: string[] = [];

afterEach(async () => {
  await Promise.all(directories.splice(0).map((directory) => rm(directory, { recursive: true, force: true })));
});

async function open(programs: StandInOptions['programs']): Promise<{ machine: StandInMachine; os: OperatingSystem }> {
  const directory = await mkdtemp(join(tmpdir(), 'slipway-os-'));
  directories.push(directory);
  const machine = await makeStandInMachine(directory, {
    programs,
    called: 'as processes',
    osRelease: 'ID=rhcos\nRHEL_VERSION="9.6"\n',
    image: OLD,
    registry: {
      [OLD]: { bootable: true },
      [NEW]: { bootable: true },
      [EXTENSIONS]: { bootable: false, packages: ['usbguard'] },
    },
  });
  const { os } = await openOS({ files: createDisk({ root: machine.root }), run: machine.run });
  return { machine, os };
}

describe('the OS tools as programs', () => {
  it('rpm-ostree and podman apply image, arguments and packages at the next boot', async () => {
    const { machine, os } = await open(['rpm-ostree', 'podman']);
    const lines: string[] = [];
    await os.prefetch([NEW], ({ text }) => lines.push(text), signal);
    expect(lines).toContain('Copying blob sha256:0123');
    await os.stage({
      image: NEW,
      kernelArguments: { removed: ['quiet'], added: ['dyndbg="file a +p"'] },
      extensions: { before: [], after: ['usbguard'] },
      extensionsImage: EXTENSIONS,
    });
    machine.boot();
    const { booted } = await os.state();
    expect(booted).toMatchObject({ image: NEW, packages: ['usbguard'] });
    expect(booted.kernelArguments).toContain('dyndbg="file a +p"');
  });

  it('bootc applies the image', async () => {
    const { machine, os } = await open(['rpm-ostree', 'bootc', 'podman']);
    await os.stage({ image: NEW });
    expect(machine.state().calls).toContain(`bootc switch ${NEW}`);
    machine.boot();
    expect((await os.state()).booted.image).toBe(NEW);
  });

  it('identify themselves as a stand-in', async () => {
    const { machine } = await open(['rpm-ostree', 'bootc', 'podman']);
    const readStdout = async (program: string, ...args: string[]) =>
      (await machine.run({ program, args, timeoutMs: 30_000 })).stdout;
    expect(await readStdout('rpm-ostree', '--version')).toContain('this is not rpm-ostree');
    expect(await readStdout('rpm-ostree', 'status', '--json')).toContain('this is not rpm-ostree');
    expect(await readStdout('bootc', 'status', '--format', 'json')).toContain('this is not bootc');
    expect(await readStdout('podman', '--version')).toContain('this is not podman');
  });

  it('exit with 77 for an unchanged or pending deployment, if requested', async () => {
    const { machine, os } = await open(['rpm-ostree']);
    const status = async (...args: string[]) =>
      (await machine.run({ program: 'rpm-ostree', args, timeoutMs: 30_000 })).status;
    expect(await status('kargs', '--delete-if-present=x', '--unchanged-exit-77')).toBe(77);
    expect(await status('status', '--json', '--pending-exit-77')).toBe(0);
    await os.stage({ image: NEW });
    expect(await status('status', '--json', '--pending-exit-77')).toBe(77);
  });

  it('fail with every known text, and each is classified', async () => {
    const { machine } = await open(['rpm-ostree']);
    const attempt = createOSRun(machine.run, {
      busyForMs: 0,
      busyEveryMs: 1,
      network: { firstMs: 1, maxMs: 1 },
      networkRetries: 0,
    });
    for (const { text, is } of FAILURE_TEXTS) {
      machine.fail({ call: 'rpm-ostree rebase', stderr: text });
      const failed = attempt({ program: 'rpm-ostree', args: ['rebase', 'x'], failing: 'No rebase' });
      await expect(failed).rejects.toMatchObject({ failure: is, code: 'SLW_DAEMON_OS' });
    }
  });
});
