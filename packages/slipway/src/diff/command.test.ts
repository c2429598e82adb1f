import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { file, fleetDirectory, machineConfig } from '../testing/fleet-directory.ts';
import { runCommand } from '../testing/run-command.ts';
import { diffCommand } from './command.ts';
import './diff.ts'; // Preloaded, so that loading does not count against a test's timeout.

const before = machineConfig('50-a', 'worker', [file('/etc/a', 'one\n'), file('/etc/secret', 'old', 0o600)]);
const after = machineConfig('50-a', 'worker', [file('/etc/a', 'two\n'), file('/etc/secret', 'new', 0o600)], {
  kernelArguments: ['nosmt'],
});
const other = machineConfig('60-b', 'worker', [file('/etc/b', 'b')]);
let dir: string;
beforeAll(async () => {
  dir = await fleetDirectory({
    'before.json': before,
    'after.json': after,
    'same.ign': before.spec.config,
    'old/a.json': before,
    'new/a.json': after,
    'many.json': { kind: 'List', items: [before, other] },
    'bad.json': { ...before, spec: { config: { ignition: { version: '9.0.0' } } } },
    'butane.yaml': 'variant: openshift\nversion: 4.18.0\n',
  });
});
afterAll(() => rm(dir, { recursive: true }));

const diff = (a: string, b: string, ...flags: string[]) =>
  runCommand(diffCommand, [a === '-' ? a : join(dir, a), join(dir, b), ...flags], JSON.stringify(before));

describe('slipway diff', () => {
  it('exits 0 if a machine would get the same, whatever the input format', async () => {
    expect(await diff('before.json', 'same.ign')).toMatchObject({ code: 0, out: 'no difference\n' });
    expect(await diff('-', 'before.json')).toMatchObject({ code: 0, out: 'no difference\n' });
  });

  it('exits 2 if something differs, and shows it without secrets', async () => {
    const { out, code } = await diff('before.json', 'after.json');
    expect(code).toBe(2);
    expect(out).toContain('~ file /etc/a\n');
    expect(out).toContain('-one\n');
    expect(out).toContain('+two\n');
    expect(out).toContain('kernelArguments');
    expect(out).toContain('nosmt');
    expect(out).toContain('~ file /etc/secret\n');
    expect(out).not.toMatch(/old|new/);
    expect((await diff('before.json', 'after.json', '--show-secrets')).out).toMatch(/-old[^]*\+new/);
  });

  it('renders manifests first', async () => {
    const { code, err } = await diff('old', 'new', '--pool', 'worker');
    expect(code).toBe(2);
    expect(err).toMatch(/^--- .*old \(rendered-worker-[0-9a-f]{32}\)\n\+\+\+ .*new \(rendered-worker-[0-9a-f]{32}\)$/m);
    const one = await diff('old', 'many.json', '--pool', 'worker', '-o', 'json');
    expect(JSON.parse(one.out)).toMatchObject({ items: [{ noun: 'file', name: '/etc/b', change: 'added' }] });
  });

  it.each([
    [
      'manifests without a pool to render',
      ['old', 'new'],
      'SLW_CLI_COMPARE',
      /Choose the pool to render with --pool NAME/,
    ],
    ['a missing file', ['before.json', 'gone.json'], 'SLW_CLI_COMPARE', /gone\.json: no such file/],
  ] as const)('refuses %s', async (_, [a, b], code, message) => {
    const { thrown, err, out } = await diff(a, b);
    expect({ thrown, out }).toEqual({ thrown: code, out: '' });
    expect(err).toMatch(message);
  });

  it('recognises a file of another tool', async () => {
    const { code, err } = await diff('before.json', 'butane.yaml');
    expect(code).toBe(1);
    expect(err).toMatch(/butane\.yaml, line 1: it is a Butane config, .*\[SLW_CLI_FOREIGN\]\n$/);
  });

  it('exits 1 if one side is invalid', async () => {
    const { code, err } = await diff('before.json', 'bad.json');
    expect(code).toBe(1);
    expect(err).toMatch(/\[SLW_CLI_COMPARE\]\n$/);
  });
});
