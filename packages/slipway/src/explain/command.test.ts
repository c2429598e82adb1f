import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { customPool, file, fleetDirectory, machineConfig } from '../testing/fleet-directory.ts';
import { runCommand } from '../testing/run-command.ts';
import { explainCommand } from './command.ts';
import './explain.ts'; // Preloaded, so that loading does not count against a test's timeout.

let dir: string;
beforeAll(async () => {
  const withUnits = machineConfig('60-units', 'worker', [], {
    config: {
      ignition: { version: '3.4.0' },
      systemd: { units: [{ name: 'crio.service', dropins: [{ name: '10-a.conf', contents: '[Service]\n' }] }] },
      passwd: { users: [{ name: 'core', passwordHash: '$6$secret', sshAuthorizedKeys: ['ssh-ed25519 AAAAbcd me'] }] },
    },
    extensions: ['usbguard'],
  });
  dir = await fleetDirectory({
    'a.json': machineConfig('50-chrony', 'worker', [file('/etc/chrony.conf', 'pool a\n')], {
      kernelArguments: ['nosmt'],
    }),
    'b.json': machineConfig('70-infra', 'infra', [
      file('/etc/chrony.conf', 'pool \u001b[31mb\n', 0o640),
      file('/etc/secret', 'hush', 0o600),
    ]),
    'c.json': withUnits,
    'p.json': customPool('infra'),
  });
});
afterAll(() => rm(dir, { recursive: true }));

const explain = (...args: string[]) => runCommand(explainCommand, ['-f', dir, '--pool', 'infra', ...args]);
/** The cells of each line, whatever the column widths. */
const parseRows = (text: string) => text.split('\n').map((line) => line.trim().split(/ {2,}/));

describe('slipway explain', () => {
  it('shows which MachineConfig set each item and which ones it overrode', async () => {
    const { out, code } = await explain('--os-image', 'registry.example/os:1');
    expect(code).toBe(0);
    const rows = parseRows(out);
    expect(rows[0]).toEqual(['KIND', 'NAME', 'SET BY', 'OVERRODE']);
    expect(rows).toContainEqual(['file', '/etc/chrony.conf', '70-infra', '50-chrony']);
    expect(rows).toContainEqual(['drop-in', 'crio.service.d/10-a.conf', '60-units', '-']);
    expect(rows).toContainEqual(['unit', 'machine-config-daemon-firstboot.service', '00-worker', '-']);
    expect(rows).toContainEqual(['kernel argument', 'nosmt', '50-chrony', '-']);
    expect(rows).toContainEqual(['extension', 'usbguard', '60-units', '-']);
    expect(rows).toContainEqual(['OS image', 'registry.example/os:1', '(platform)', '-']);
  });

  it('shows each field of a file and its final contents, with control characters escaped', async () => {
    const { out } = await explain('/etc/chrony.conf');
    const rows = parseRows(out);
    expect(rows).toContainEqual(['mode', '0640', '70-infra', '50-chrony']);
    expect(out).toContain('set by 70-infra, overriding 50-chrony');
    expect(out).toContain('  pool \\u{1b}[31mb\n');
    expect(out).not.toContain('\u001b');
  });

  it('hides secrets unless requested', async () => {
    const hidden = await explain('/etc/secret');
    expect(hidden.out).toContain('4 bytes, hidden');
    expect(hidden.out).not.toContain('hush');
    expect((await explain('/etc/secret', '--show-secrets')).out).toContain('hush');
    expect((await explain('core')).out).not.toContain('$6$secret');
    expect((await explain('core', '--show-secrets')).out).toContain('$6$secret');
  });

  it.each([
    ['/etc/', ['/etc/chrony.conf', '/etc/secret']],
    ['crio.service', ['crio.service.d/10-a.conf', 'crio.service']],
    ['sshkey:core', [expect.stringMatching(/^core ssh-ed25519 .*me$/)]],
    ['kernelArguments', ['nosmt']],
    ['extensions', ['usbguard']],
  ])('finds by %s', async (asked, names) => {
    const { out } = await explain(asked, '-o', 'json');
    const { items } = JSON.parse(out) as { items: { name: string }[] };
    expect(items.map(({ name }) => name)).toEqual(names);
  });

  it('accepts the pool as first argument or with --pool', async () => {
    const byArgument = await runCommand(explainCommand, ['infra', '/etc/chrony.conf', '-f', dir]);
    expect(byArgument).toEqual(await explain('/etc/chrony.conf'));
  });

  it.each([
    [['-f', '.'], 'found none'],
    [['--pool', 'infra', '-f', '.', '/etc/a', '/etc/b'], 'found --pool infra and two arguments'],
  ])('refuses %j: one pool and at most one path', async (args, problem) => {
    const { thrown, err } = await runCommand(explainCommand, args);
    expect({ thrown, err }).toEqual({ thrown: 'SLW_CLI_USAGE', err: expect.stringContaining(problem) });
  });

  it('suggests names close to an unknown one', async () => {
    const { thrown, err, out } = await explain('/etc/chronny.conf');
    expect({ thrown, out }).toEqual({ thrown: 'SLW_CLI_NOTHING_SUCH', out: '' });
    expect(err).toContain('has no /etc/chronny.conf. Did you mean /etc/chrony.conf?');
  });
});
