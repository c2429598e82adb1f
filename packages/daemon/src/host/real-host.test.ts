// How a real host calls systemctl, systemd-run and chpasswd, and handles their answers. The answers are those that
// systemd 252 and later print. The nodes of the end-to-end tests run the real programs.
import { mkdtemp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Host } from './host.ts';
import { createRealHost } from './real-host.ts';
import type { Command, CommandResult } from './run-command.ts';

let root: string;
let calls: { readonly line: string; readonly input: string | undefined }[];
let answers: [begin: string, answer: Partial<CommandResult>][];

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'slipway-host-'));
  calls = [];
  answers = [];
  for (const name of ['etc/systemd/system/multi-user.target.wants', 'run'])
    await mkdir(join(root, name), { recursive: true });
  await writeFile(join(root, 'etc/passwd'), 'root:x:0:0::/root:/bin/sh\ncore:x:1000:1000::/home/core:/bin/sh\n');
  await writeFile(join(root, 'etc/shadow'), 'root:*:::::::\ncore:$6$old:::::::\n', { mode: 0o600 });
});
afterEach(() => rm(root, { recursive: true, force: true }));

async function run(command: Command): Promise<CommandResult> {
  const line = [command.program, ...command.args].join(' ');
  const absent = ['rpm-ostree', 'bootc', 'podman'].includes(command.program);
  if (!absent) calls.push({ line, input: command.input });
  const at = answers.findIndex(([begin]) => line.startsWith(begin));
  const [, answer] = answers.splice(at === -1 ? answers.length : at, 1)[0] ?? [];
  return { status: absent ? null : 0, stdout: '', stderr: '', ...answer };
}

const open = (): Promise<Host> => createRealHost({ root, run, settle: { forMs: 20, everyMs: 10 } });
const lines = () => calls.map(({ line }) => line);

describe('the enablement of a unit', () => {
  it.each([
    ['enabled', { status: 0, stdout: 'enabled\n' }],
    ['disabled', { status: 1, stdout: 'disabled\n' }],
    ['masked', { status: 1, stdout: 'masked\n' }],
    ['not-found', { status: 1, stderr: 'Failed to get unit file state for a.service: No such file or directory\n' }],
    ['not-found', { status: 4, stdout: 'not-found\n' }],
  ])('%s', async (state, answer) => {
    answers.push(['systemctl is-enabled', answer]);
    expect(await (await open()).systemd.enablement('a.service')).toBe(state);
  });

  it('is not guessed if systemd does not respond', async () => {
    answers.push(['systemctl is-enabled', { status: 1, stderr: 'Failed to connect to bus: Connection refused\n' }]);
    await expect((await open()).systemd.enablement('a.service')).rejects.toThrow(
      /systemd does not respond.*Connection refused/,
    );
  });
});

describe('units', () => {
  it('are enabled together, so that none is if one is invalid', async () => {
    const { systemd } = await open();
    await systemd.enable(['a.service', 'b.service']);
    await systemd.enable([]);
    expect(lines()).toEqual(['systemctl --root=/ enable -- a.service b.service']);
    const stderr = 'Failed to enable unit, unit c.service does not exist.\n';
    answers.push(['systemctl --root=/ enable', { status: 1, stderr }]);
    await expect(systemd.enable(['c.service'])).rejects.toThrow(/did not enable c.service.*does not exist/);
  });

  it('that do not exist or are masked need not be disabled or preset', async () => {
    const { systemd } = await open();
    answers.push([
      'systemctl --root=/ disable',
      { status: 1, stderr: 'Failed to disable unit, unit a.service does not exist.' },
    ]);
    answers.push([
      'systemctl --root=/ preset',
      { status: 1, stderr: 'Failed to preset unit: Unit file a.service is masked.' },
    ]);
    await systemd.disable(['a.service', 'b.service']);
    await systemd.preset(['a.service', 'b.service']);
    expect(lines()).toHaveLength(4);
    answers.push(['systemctl --root=/ preset', { status: 1, stderr: 'Failed to preset unit: Read-only file system' }]);
    await expect(systemd.preset(['a.service'])).rejects.toThrow(/Read-only/);
  });

  it('are restarted with their current file', async () => {
    const { systemd } = await open();
    answers.push(['systemctl show --property=NeedDaemonReload', { stdout: 'NeedDaemonReload=yes\n' }]);
    answers.push(['systemctl show --property=Type', { stdout: 'Type=notify\nActiveState=active\nResult=success\n' }]);
    await systemd.restart('a.service');
    expect(lines().filter((line) => !line.includes('show'))).toEqual([
      'systemctl daemon-reload',
      'systemctl restart -- a.service',
    ]);
  });

  it('that exit right after their start are a failure; their log stays on the machine, masked', async () => {
    const { systemd } = await open();
    const running = { stdout: 'Type=simple\nActiveState=active\nResult=success\nNRestarts=0\n' };
    const ended = { stdout: 'Type=simple\nActiveState=failed\nResult=exit-code\nNRestarts=0\n' };
    answers.push(['systemctl show --property=Type', running], ['systemctl show --property=Type', ended]);
    answers.push(['journalctl', { stdout: `no such config\nTOKEN=abc123\n${'x'.repeat(5000)}\n` }]);
    const error: unknown = await systemd.restart('a.service').catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'SLW_DAEMON_UNIT' });
    expect(String(error)).toMatch(/Cannot restart a.service: it failed \(exit-code\)\. .*journalctl -u a.service$/);
    expect(String(error)).not.toMatch(/no such config|abc123/);
    const kept = calls.find(({ line }) => line.startsWith('systemd-cat --identifier=machine-config-details'));
    expect(kept?.input).toMatch(
      /^Cannot restart a.service. The last lines of its log:\nno such config\nTOKEN=\(hidden\)\nx+…\n$/,
    );
  });

  it('fail in the same way on a machine whose journal cannot be written', async () => {
    const { systemd } = await open();
    answers.push(['systemctl restart', { status: 1, stderr: 'Job for a.service failed.' }]);
    answers.push(['systemd-cat', { status: 1, stderr: 'Failed to create stream fd: No such file or directory' }]);
    await expect(systemd.restart('a.service')).rejects.toThrow(/Job for a.service failed/);
  });

  it('that systemd does not restart are reported with its output', async () => {
    const { systemd } = await open();
    answers.push(['systemctl restart', { status: 1, stderr: 'Job for a.service failed.' }]);
    await expect(systemd.restart('a.service')).rejects.toThrow(/Job for a.service failed/);
    answers.push(['systemctl reload', { status: 1, stderr: 'crio.service is not active, cannot reload.' }]);
    await expect(systemd.reload('crio.service')).rejects.toThrow(/not active/);
  });

  it('for certificates that the OS lacks are replaced by the equivalent program', async () => {
    const { systemd } = await open();
    answers.push(['systemctl restart', { status: 5, stderr: 'Unit coreos-update-ca-trust.service not found.' }]);
    await systemd.restart('coreos-update-ca-trust.service');
    expect(lines().at(-1)).toBe('update-ca-trust');
  });
});

describe('a reboot', () => {
  it('is a separate unit that first finalizes the staged OS', async () => {
    await (await open()).reboot('the config\nchanged');
    await writeFile(join(root, 'run/ostree-booted'), '');
    await (await open()).reboot('the config changed');
    const unit = 'systemd-run --collect --unit=slipway-reboot --description=Slipway: the config changed';
    const finished = '-p Requires=ostree-finalize-staged.service -p After=ostree-finalize-staged.service';
    expect(lines()).toEqual([`${unit} systemctl reboot`, `${unit} ${finished} systemctl reboot`]);
  });

  it('in progress need not be requested again', async () => {
    const stderr =
      'Failed to start transient service unit: Unit slipway-reboot.service was already loaded or has a fragment file.';
    answers.push(['systemd-run', { status: 1, stderr }]);
    await (await open()).reboot('again');
    expect(lines()).toHaveLength(1);
  });

  it('works without systemd-run too, and fails with an explanation if nothing works', async () => {
    const host = await open();
    answers.push(['systemd-run', { status: null }]);
    await host.reboot('again');
    expect(lines().at(-1)).toBe('systemctl reboot');
    answers.push(['systemd-run', { status: 1, stderr: 'Failed to connect to bus' }]);
    await expect(host.reboot('again')).rejects.toThrow(/does not reboot: Failed to connect to bus/);
  });
});

describe('a password', () => {
  it('is passed on stdin, where no other user sees it, and only if it changes', async () => {
    const { accounts } = await open();
    await accounts.setPasswordHash('core', '$6$old');
    expect(calls).toEqual([]);
    await accounts.setPasswordHash('core', '$6$new');
    expect(calls).toEqual([{ line: 'chpasswd -e', input: 'core:$6$new\n' }]);
  });

  it('appears in no message', async () => {
    const { accounts } = await open();
    answers.push(['chpasswd', { status: 1, stderr: 'chpasswd: line 1: core:$6$new: cannot lock' }]);
    const error: unknown = await accounts.setPasswordHash('core', '$6$new').catch((thrown: unknown) => thrown);
    expect(String(error)).toMatch(/password of core could not be set.*cannot lock/);
    expect(String(error)).not.toContain('$6$new');
    await expect(accounts.setPasswordHash('core', '$6$a\nroot:x')).rejects.toThrow(/colon or a space/);
    await expect(accounts.setPasswordHash('gone', '*')).rejects.toThrow(/no user gone/);
  });
});

describe('the container runtime', () => {
  const { signal } = new AbortController();

  it('reloads its configuration through systemd when pins change', async () => {
    await expect((await open()).containers.pin([], signal)).rejects.toMatchObject({ code: 'SLW_PINNING_RUNTIME' });
    expect(lines().at(-1)).toBe('systemctl reload -- crio.service');
  });

  it('that is not running counts as not responding', async () => {
    const { containers } = await open();
    answers.push(['systemctl reload', { status: 1, stderr: 'crio.service is not active, cannot reload.' }]);
    await expect(containers.pin([], signal)).rejects.toMatchObject({
      code: 'SLW_PINNING_RUNTIME',
      message: expect.stringMatching(/did not reload its configuration.*crio.service is not active/),
    });
    const socket = join(root, 'run/crio/crio.sock');
    await expect(containers.images(signal)).rejects.toMatchObject({
      code: 'SLW_PINNING_RUNTIME',
      message: expect.stringContaining(`The container runtime at ${socket} did not respond`),
    });
  });

  it('is not blamed if systemd does not respond', async () => {
    answers.push(['systemctl reload', { status: 1, stderr: 'Failed to connect to bus: Connection refused' }]);
    await expect((await open()).containers.pin([], signal)).rejects.toMatchObject({ code: 'SLW_DAEMON_SYSTEMD' });
  });
});

describe('the kernel', () => {
  it('is that of the machine', async () => {
    const host = await open();
    expect(await host.bootId()).toBe((await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim());
    expect(host.kind).toBe('plain');
    expect((await host.os.state()).booted.image).toBe('');
  });
});
