import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { until } from '@slipway/testing/wait';
import { bundleDaemon } from '@slipway/tools/bundle';
import { makeNode, type SystemdNode } from '@slipway/tools/nspawn';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { makeBootDirectory } from './first-boot/boot.ts';

// The adapters that the daemon drives a machine with, on a machine: systemd, accounts, reboot.
const { parts } = inject('nodes');

interface HostCallResult {
  answer?: unknown;
  code?: string;
  message?: string;
}

describe.skipIf(parts === undefined)('the real host', () => {
  let node: SystemdNode;
  let directory: string;

  const call = async (name: string, argument = ''): Promise<HostCallResult> => {
    const { code, out, err } = await node.exec(['/opt/node', '/opt/host.mjs', name, argument]);
    if (code !== 0) throw new Error(`${name} ${argument}: ${err}`);
    return JSON.parse(out) as HostCallResult;
  };
  const unit = async (name: string, text: string): Promise<void> => {
    const path = join(node.root, 'etc/systemd/system', name);
    await mkdir(resolve(path, '..'), { recursive: true });
    await writeFile(path, text);
  };
  /** All links that make systemd start the unit, or call it by another name. */
  const links = async (name: string): Promise<string[]> =>
    (await node.sh(`find /etc/systemd/system -type l -lname '*/${name}' | sort`)).split('\n').filter(Boolean);
  const service = (start: string, more = ''): string => `[Service]\nExecStart=${start}\n${more}`;

  beforeAll(async () => {
    if (parts === undefined) return;
    directory = await makeBootDirectory();
    const program = await bundleDaemon({ entry: join(import.meta.dirname, 'node/host-program.ts'), directory });
    node = await makeNode({
      name: 'host',
      ...parts,
      files: { '/opt/node': process.execPath, '/opt/host.mjs': program.path },
    });
    await node.boot();
  });
  afterAll(async () => {
    await node?.stop();
    if (directory !== undefined) await rm(directory, { recursive: true });
  });

  it('knows the machine, and that nothing updates its OS by images', async () => {
    expect(await call('describe')).toEqual({
      answer: { kind: 'plain', bootId: await node.bootId(), os: { name: 'Debian GNU/Linux', version: '13' } },
    });
  });

  it('says of every state of a unit what systemd says', async () => {
    await unit('enabled.service', service('/bin/true', '[Install]\nWantedBy=multi-user.target\n'));
    await unit('disabled.service', service('/bin/true', '[Install]\nWantedBy=multi-user.target\n'));
    await unit('static.service', service('/bin/true'));
    await node.sh('systemctl enable enabled.service; systemctl mask masked.service');
    for (const state of ['enabled', 'disabled', 'static', 'masked']) {
      expect(await call('enablement', `${state}.service`)).toEqual({ answer: state });
    }
    expect(await call('enablement', 'absent.service')).toEqual({ answer: 'not-found' });
  });

  it('enables twice as once, and disables by every link, also of an [Install] that is gone', async () => {
    await unit('a.service', service('/bin/true', '[Install]\nWantedBy=multi-user.target\nAlias=b.service\n'));
    for (let times = 0; times < 2; times += 1) {
      expect(await call('enable', 'a.service')).toEqual({ answer: null });
      expect(await links('a.service')).toEqual([
        '/etc/systemd/system/b.service',
        '/etc/systemd/system/multi-user.target.wants/a.service',
      ]);
    }
    await unit('a.service', service('/bin/true'));
    for (let times = 0; times < 2; times += 1) {
      expect(await call('disable', 'a.service')).toEqual({ answer: null });
      expect(await links('a.service')).toEqual([]);
    }
  });

  it('refuses to enable units of which one is not there, and leaves the others as they were', async () => {
    const refused = await call('enable', 'disabled.service,absent.service');
    expect(refused).toMatchObject({ code: 'SLW_DAEMON_UNIT', message: expect.stringContaining('absent.service') });
    expect(await links('disabled.service')).toEqual([]);
    for (const name of ['disable', 'preset']) expect(await call(name, 'absent.service')).toEqual({ answer: null });
  });

  it('follows presets, of which the first that fits counts', async () => {
    await unit('wanted.service', service('/bin/true', '[Install]\nWantedBy=multi-user.target\n'));
    await mkdir(join(node.root, 'etc/systemd/system-preset'), { recursive: true });
    await writeFile(join(node.root, 'etc/systemd/system-preset/20-ignition.preset'), 'enable wanted.service\n');
    await call('enable', 'disabled.service');
    expect(await call('preset', 'wanted.service,disabled.service')).toEqual({ answer: null });
    expect(await call('enablement', 'wanted.service')).toEqual({ answer: 'enabled' });
    expect(await call('enablement', 'disabled.service')).toEqual({ answer: 'disabled' });
  });

  it('restarts a unit with its new file, which systemd has not read yet', async () => {
    await unit('runs.service', service('/bin/sleep 1000'));
    await node.sh('systemctl daemon-reload && systemctl start runs.service');
    const before = await node.sh('systemctl show -P MainPID runs.service');
    await unit('runs.service', service('/bin/sleep 2000'));
    expect(await call('restart', 'runs.service')).toEqual({ answer: null });
    const after = await node.sh('systemctl show -P MainPID runs.service');
    expect(after).not.toBe(before);
    expect(await node.sh(`tr '\\0' ' ' </proc/${after.trim()}/cmdline`)).toBe('/bin/sleep 2000 ');
  });

  it('reloads a unit without ending it', async () => {
    const reload = 'ExecReload=/bin/sh -c "echo reloaded >>/run/reloads"\n';
    await unit('reloads.service', service('/bin/sleep 1000', reload));
    await node.sh('systemctl daemon-reload && systemctl start reloads.service');
    const before = await node.sh('systemctl show -P MainPID reloads.service');
    expect(await call('reload', 'reloads.service')).toEqual({ answer: null });
    expect(await node.sh('cat /run/reloads')).toBe('reloaded\n');
    expect(await node.sh('systemctl show -P MainPID reloads.service')).toBe(before);
  });

  const telling = 'echo the reason is here; exit 3';
  it.each([
    ['a program that is not there', service('/no/such/program'), '/no/such/program'],
    ['a program that fails at once', service(`/bin/sh -c "${telling}"`), 'the reason is here'],
    ['a program that fails after it has started', service(`/bin/sh -c "sleep 0.5; ${telling}"`), 'the reason is here'],
    [
      'a program that fails and is started again and again',
      service('/bin/false', 'Restart=always\nRestartSec=0.1\n'),
      'exit-code',
    ],
    ['a oneshot that fails', service('/bin/false', 'Type=oneshot\n'), 'exit-code'],
    ['a file that is no unit', 'not a unit\n', 'bad unit file setting'],
  ])('says that a unit does not start, and why: %s', async (_, text, why) => {
    await unit('fails.service', text);
    // On a busy machine a process can be gone before journald knows its unit, and its line is lost: then it is tried again.
    await until(async () => {
      const failed = await call('restart', 'fails.service');
      expect(failed).toMatchObject({ code: 'SLW_DAEMON_UNIT', message: expect.stringContaining('fails.service') });
      expect(failed.message).not.toContain('the reason is here');
      const details = await node.sh('journalctl --no-pager --output=cat -t machine-config-details');
      expect(failed.message + details).toContain(why);
    });
    await node.sh('systemctl reset-failed fails.service; systemctl stop fails.service; true');
  });

  it('takes a oneshot that has ended well for started', async () => {
    await unit('once.service', service('/bin/touch /run/once', 'Type=oneshot\n'));
    expect(await call('restart', 'once.service')).toEqual({ answer: null });
    expect(await node.sh('ls /run/once')).toBe('/run/once\n');
  });

  it('sets a password, and finds it', async () => {
    const hash = '$6$saltsalt$abcdefghijklmnopqrstuvwxyz';
    expect(await call('setPasswordHash', hash)).toEqual({ answer: null });
    expect(await call('passwordHash', 'root')).toEqual({ answer: hash });
    expect(await node.sh('grep ^root: /etc/shadow')).toContain(`root:${hash}:`);
  });

  it('reboots, asked once or twice', async () => {
    for (const name of ['reboot', 'reboot twice']) {
      const before = await node.bootId();
      // The answer may be lost with the machine.
      await call(name, 'a test').catch(() => undefined);
      expect(await node.rebooted(before)).not.toBe(before);
    }
  });
});
