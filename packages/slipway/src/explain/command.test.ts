import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { customPool, file, fleetDirectory, machineConfig } from '../testing/fleet-directory.ts';
import { runCommand } from '../testing/run-command.ts';
import { explainCommand } from './command.ts';
import './explain.ts'; // Loaded before the clock of a test runs; the command itself loads it when called.

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
/** Words of each line, however wide the columns are. */
const parseRows = (text: string) => text.split('\n').map((line) => line.trim().split(/ {2,}/));

describe('slipway explain', () => {
  it('shows for everything who set it and who was overridden', async () => {
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

  it('shows of a file each field, and the contents as a machine gets them, with nothing that moves the terminal', async () => {
    const { out } = await explain('/etc/chrony.conf');
    const rows = parseRows(out);
    expect(rows).toContainEqual(['mode', '0640', '70-infra', '50-chrony']);
    expect(out).toContain('set by 70-infra, over 50-chrony');
    expect(out).toContain('  pool \\u{1b}[31mb\n');
    expect(out).not.toContain('\u001b');
  });

  it('hides what is secret, unless asked', async () => {
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

  it('takes the pool as its first argument, or by --pool', async () => {
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

  it('says what is near a name that is not there', async () => {
    const { thrown, err, out } = await explain('/etc/chronny.conf');
    expect({ thrown, out }).toEqual({ thrown: 'SLW_CLI_NOTHING_SUCH', out: '' });
    expect(err).toContain('has nothing called /etc/chronny.conf; near it there is /etc/chrony.conf');
  });
});
