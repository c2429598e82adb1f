import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ignitionCommand } from './command.ts';

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'ignition-command-'));
});
afterAll(() => rm(dir, { recursive: true }));

async function save(name: string, content: string | object): Promise<string> {
  const path = join(dir, name);
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

/** Runs `slipway ignition …`. */
async function slipway(args: string[], stdin = ''): Promise<{ out: string; err: string; code: number }> {
  const [stdout, stderr] = [new PassThrough({ encoding: 'utf8' }), new PassThrough({ encoding: 'utf8' })];
  const [out, err] = [stdout.toArray(), stderr.toArray()];
  let code = 0;
  const command = ignitionCommand({
    stdin: Readable.from([Buffer.from(stdin)]),
    stdout,
    stderr,
    setExitCode: (exitCode) => {
      code = exitCode;
    },
  });
  for (const each of [command, ...command.commands]) {
    each.exitOverride();
    each.configureOutput({ writeOut: (text) => void stdout.write(text), writeErr: (text) => void stderr.write(text) });
  }
  await command.parseAsync(args, { from: 'user' }).catch((failure: { exitCode?: number }) => {
    if (failure.exitCode === undefined) throw failure;
    code = failure.exitCode;
  });
  stdout.end();
  stderr.end();
  return { out: (await out).join(''), err: (await err).join(''), code };
}

const file = (path: string, source: string, more: object = {}) => ({ path, contents: { source }, ...more });
const config = (version: string, ...files: object[]) => ({ ignition: { version }, storage: { files } });
const MACHINE_CONFIG = `apiVersion: machineconfiguration.openshift.io/v1
kind: MachineConfig
metadata:
  name: 99-worker
spec:
  config:
    ignition:
      version: 3.4.0
    storage:
      files:
      - path: /etc/x
        mode: 0644
        contents:
          source: data:,hello
`;

describe('ignition validate', () => {
  it('exits 0 if there are no errors, and prints the spec version', async () => {
    const good = await save('good.ign', config('3.4.0', file('/a', 'data:,a')));
    expect(await slipway(['validate', good])).toEqual({ out: `${good}: valid (spec 3.4.0)\n`, err: '', code: 0 });
  });

  it('exits 1 if one of several has an error, and names its field', async () => {
    const good = await save('good.ign', config('3.4.0'));
    const bad = await save('bad.ign', config('3.4.0', file('relative', 'data:,a')));
    const { out, code } = await slipway(['validate', good, bad]);
    expect(code).toBe(1);
    expect(out).toContain(`${bad}: error: storage.files[0].path: `);
    expect(out).not.toContain(`${bad}: valid`);
  });

  it('reads a MachineConfig in YAML from stdin', async () => {
    const { out, code } = await slipway(['validate', '-'], MACHINE_CONFIG);
    expect(out).toContain('stdin (MachineConfig 99-worker): valid (spec 3.4.0)');
    expect(code).toBe(0);
  });

  it('reads a MachineConfig in JSON', async () => {
    const manifest = {
      apiVersion: 'machineconfiguration.openshift.io/v1',
      kind: 'MachineConfig',
      metadata: { name: 'm' },
      spec: { config: config('3.2.0') },
    };
    expect((await slipway(['validate', '-'], JSON.stringify(manifest))).out).toContain('MachineConfig m): valid');
  });

  it('only warns about unknown keys', async () => {
    const { out, code } = await slipway(['validate', '-'], '{"ignition":{"version":"3.4.0"},"more":1}');
    expect(out).toMatch(/warning: more/);
    expect(code).toBe(0);
  });

  it('prints JSON on request', async () => {
    const { out } = await slipway(['validate', '-', '-o', 'json'], '{}');
    expect(JSON.parse(out)).toMatchObject([
      { name: 'stdin', version: null, valid: false, report: [{ kind: 'error' }] },
    ]);
  });

  it.each([
    [
      'a file that is not there',
      ['validate', '/nonexistent/x.ign'],
      '',
      /^slipway ignition: \S+ cannot be read: no such file \[SLW_IGNITION_INPUT\]\n$/,
    ],
    ['broken YAML', ['validate', '-'], 'a: [', /^slipway ignition: stdin, line 1: /],
    [
      'another kind',
      ['validate', '-'],
      'apiVersion: v1\nkind: Pod\n',
      /^slipway ignition: stdin, line 1: expected .* found kind Pod/,
    ],
    [
      'a Butane config',
      ['validate', '-'],
      'variant: openshift\nversion: 4.18.0\n',
      /^slipway ignition: stdin, line 1: it is a Butane config, .*: butane --strict \| slipway validate -f - \[SLW_CLI_FOREIGN\]\n$/,
    ],
    ['a YAML bomb', ['validate', '-'], yamlBomb(), /YAML aliases expand to too much/],
    ['stdin twice', ['diff', '-', '-'], '', /stdin\) at most once/],
  ])('says in one line what is wrong with %s', async (_, args, stdin, message) => {
    const { out, err, code } = await slipway(args, stdin);
    expect(err).toMatch(message);
    expect(err.split('\n')).toHaveLength(2);
    expect(out).toBe('');
    expect(code).toBeGreaterThan(0);
  });
});

describe('ignition validate of MachineConfigs', () => {
  const GROUP = 'machineconfiguration.openshift.io';
  const machineConfig = (name: string, spec: object) => ({
    apiVersion: `${GROUP}/v1`,
    kind: 'MachineConfig',
    metadata: { name, labels: { [`${GROUP}/role`]: 'worker' } },
    spec,
  });

  it('accepts one with only kernel arguments', async () => {
    const { out, err, code } = await slipway(
      ['validate', '-'],
      JSON.stringify(machineConfig('m', { kernelArguments: ['a'] })),
    );
    expect({ out, err, code }).toEqual({ out: 'stdin (MachineConfig m): valid\n', err: '', code: 0 });
  });

  it.each([
    ['spec.kernelType', { kernelType: 'fast' }, 'SLW_RENDER_KERNEL_TYPE'],
    ['spec.config.storage.files[0].mode', { config: config('3.4.0', { path: '/a', mode: 644 }) }, 'SLW_RENDER_MODE'],
    ['spec.kernelArgs', { kernelArgs: ['a'] }, 'SLW_CLI_MANIFEST'],
  ])('reports %s with line and code, like slipway validate', async (field, spec, problem) => {
    const { out, code } = await slipway(['validate', '-'], JSON.stringify(machineConfig('m', spec)));
    expect(out.startsWith(`stdin:1: error: MachineConfig m, ${field}: `)).toBe(true);
    expect(out.endsWith(` [${problem}]\n`)).toBe(true);
    expect(code).toBe(1);
  });

  it('reads several documents and Lists', async () => {
    const list = { apiVersion: 'v1', kind: 'List', items: [machineConfig('b', {}), machineConfig('c', {})] };
    const { out, code } = await slipway(['validate', '-'], `${MACHINE_CONFIG}---\n${JSON.stringify(list)}\n`);
    expect(out).toBe(
      'stdin (MachineConfig 99-worker): valid (spec 3.4.0)\nstdin (MachineConfig b): valid\nstdin (MachineConfig c): valid\n',
    );
    expect(code).toBe(0);
  });

  it('checks later files after one that cannot be read', async () => {
    const bad = await save('bad.yaml', 'a: b: c\n');
    const good = await save('good.ign', config('3.4.0'));
    const { out, err, code } = await slipway(['validate', '/nonexistent/x.ign', bad, good]);
    expect(out).toBe(`${good}: valid (spec 3.4.0)\n`);
    expect(err.split('\n')).toHaveLength(3);
    expect(code).toBe(1);
  });

  it('prints JSON with code and line', async () => {
    const text = JSON.stringify(machineConfig('m', { kernelType: 'fast' }), null, 2);
    const { out } = await slipway(['validate', '-', '-o', 'json'], text);
    expect(JSON.parse(out)).toMatchObject([
      {
        name: 'stdin (MachineConfig m)',
        valid: false,
        report: [{ kind: 'error', path: 'spec.kernelType', code: 'SLW_RENDER_KERNEL_TYPE', line: 11 }],
      },
    ]);
  });
});

function yamlBomb(): string {
  const levels = Array.from({ length: 9 }, (_, n) => `l${n + 1}: &l${n + 1} [${Array(9).fill(`*l${n}`).join(',')}]`);
  return `l0: &l0 [x]\n${levels.join('\n')}\n`;
}

describe('ignition merge', () => {
  it('merges onto the first, in order, in spec 3.5.0', async () => {
    const a = await save('a.ign', config('3.2.0', file('/a', 'data:,1'), file('/b', 'data:,1')));
    const { out, code } = await slipway(['merge', a, '-'], MACHINE_CONFIG);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      ignition: { version: '3.5.0' },
      storage: { files: [{ path: '/a' }, { path: '/b' }, { path: '/etc/x', mode: 0o644 }] },
    });
  });

  it('shows which input set each field', async () => {
    const a = await save('a.ign', config('3.5.0', file('/a', 'data:,1', { mode: 0o600 })));
    const b = await save('b.ign', config('3.5.0', file('/a', 'data:,2')));
    const { out } = await slipway(['merge', a, b, '-o', 'json', '--provenance']);
    expect(JSON.parse(out)).toMatchObject({
      provenance: {
        'storage.files[0].mode': { from: a, overrode: [] },
        'storage.files[0].contents.source': { from: b, overrode: [a] },
      },
    });
  });

  it('fails when the result is not valid', async () => {
    const a = await save('a.ign', config('3.5.0', file('/a', 'data:,1', { user: { name: 'core' } })));
    const b = await save('b.ign', config('3.5.0', file('/a', 'data:,1', { user: { id: 5 } })));
    const { out, err, code } = await slipway(['merge', a, b]);
    expect([out, code]).toEqual(['', 1]);
    expect(err).toMatch(/^error: storage\.files\[0\]/);
  });

  it('fails when an input is not valid', async () => {
    const a = await save('a.ign', config('3.5.0', file('relative', 'data:,1')));
    const { err, code } = await slipway(['merge', a]);
    expect(code).toBe(1);
    expect(err).toContain(`slipway ignition: invalid: ${a}`);
  });
});

describe('ignition translate', () => {
  it('translates the config to the requested version', async () => {
    const { out, code } = await slipway(['translate', '--to', '3.5.0', '-'], JSON.stringify(config('3.2.0')));
    expect(JSON.parse(out)).toMatchObject({ ignition: { version: '3.5.0' } });
    expect(code).toBe(0);
  });

  it('names what cannot be translated', async () => {
    const input = { ignition: { version: '3.5.0' }, kernelArguments: { shouldExist: ['a'] } };
    const { out, err, code } = await slipway(['translate', '--to', '3.2.0', '-'], JSON.stringify(input));
    expect([out, code]).toEqual(['', 1]);
    expect(err).toContain('kernelArguments');
  });

  it('refuses an unknown version', async () => {
    const { err, code } = await slipway(['translate', '--to', '9.0.0', '-']);
    expect(err).toContain('expected one of 2.2.0');
    expect(code).toBe(1);
  });
});

describe('ignition resolve', () => {
  it('embeds fetched content, only from allowed addresses', async () => {
    const server = createServer((_, response) => response.end('fetched\n'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/x?key=secret`;
    const input = JSON.stringify(config('3.4.0', file('/a', url)));
    try {
      const refused = await slipway(['resolve', '-'], input);
      expect(refused).toMatchObject({ out: '', code: 1 });
      expect(refused.err).toMatch(/storage\.files\[0\]\.contents\.source.*127\.0\.0\.1.*loopback address/);
      expect(refused.err).not.toContain('secret');
      const { out, code } = await slipway(['resolve', '--allow-address', '127.0.0.0/8', '-'], input);
      expect(JSON.parse(out)).toEqual(config('3.4.0', file('/a', 'data:,fetched%0A')));
      expect(code).toBe(0);
      const other = await slipway(['resolve', '-', '--allow-address', '127.0.0.1', '--allow-host', 'h'], input);
      expect(other.err).toContain('not in the list of allowed hosts');
    } finally {
      server.close();
    }
  });

  it.each([
    ['--allow-address', 'localhost', /expected an address or a range/],
    ['--timeout', '0', /seconds/],
  ])('refuses %s %s', async (flag, value, message) => {
    const { err, code } = await slipway(['resolve', '-', flag, value], '{}');
    expect(err).toMatch(message);
    expect(code).toBe(1);
  });
});

describe('ignition diff', () => {
  it('exits 0 when nothing differs and 1 when something does', async () => {
    const a = await save('a.ign', config('3.5.0', file('/a', 'data:,one%0A')));
    const b = await save('b.ign', config('3.5.0', file('/a', 'data:,two%0A')));
    expect(await slipway(['diff', a, a])).toEqual({ out: 'no difference\n', err: '', code: 0 });
    const { out, code } = await slipway(['diff', a, b]);
    expect(out).toContain('~ file /a\n    @@ -1,1 +1,1 @@\n    -one\n    +two\n');
    expect(code).toBe(1);
    const json = await slipway(['diff', a, b, '-o', 'json']);
    expect(JSON.parse(json.out)).toMatchObject({ items: [{ noun: 'file', name: '/a', change: 'changed' }] });
  });

  it('hides secrets unless requested', async () => {
    const user = (passwordHash: string) => ({
      ignition: { version: '3.5.0' },
      passwd: { users: [{ name: 'core', passwordHash }] },
    });
    const a = await save('a.ign', user('$6$one'));
    const b = await save('b.ign', user('$6$two'));
    expect((await slipway(['diff', a, b])).out).not.toContain('$6$');
    expect((await slipway(['diff', a, b, '--show-secrets'])).out).toContain('$6$one → $6$two');
  });

  it('exits 2 on an error', async () => {
    expect((await slipway(['diff', '/nonexistent', '/nonexistent'])).code).toBe(2);
  });
});

describe('ignition batch and help', () => {
  it('answers lines', async () => {
    const { out } = await slipway(['batch'], '{"id":1,"op":"parse","configs":[{"ignition":{"version":"3.5.0"}}]}\n?\n');
    expect(
      out
        .trimEnd()
        .split('\n')
        .map((line): unknown => JSON.parse(line)),
    ).toMatchObject([{ id: 1 }, { id: null }]);
  });

  it.each(['validate', 'merge', 'translate', 'resolve', 'diff', 'batch'])('%s --help has examples', async (name) => {
    const { out, code } = await slipway([name, '--help']);
    expect(out).toMatch(/Examples:\n {2}.*slipway ignition/);
    expect(code).toBe(0);
  });
});
