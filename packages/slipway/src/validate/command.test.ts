import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ignitionCommand } from '../ignition/command.ts';
import { customPool, file, fleetDirectory, machineConfig } from '../testing/fleet-directory.ts';
import { runInProcess } from '../testing/in-process.ts';
import { runCommand } from '../testing/run-command.ts';
import { validateCommand } from './command.ts';

const directories: string[] = [];
async function fleet(files: Record<string, string | object>): Promise<string> {
  const dir = await fleetDirectory(files);
  directories.push(dir);
  return dir;
}
afterAll(() => Promise.all(directories.map((dir) => rm(dir, { recursive: true }))));

/** Runs it with paths relative to the directory of `-f`. */
async function validate(dir: string, args: readonly string[] = [], stdin = '') {
  const result = await runCommand(validateCommand, ['-f', dir, ...args], stdin);
  const relative = (text: string) => text.replaceAll(`${dir}/`, '');
  return { ...result, out: relative(result.out), err: relative(result.err) };
}

const GROUP = 'machineconfiguration.openshift.io';
const YAML = `# chrony
apiVersion: ${GROUP}/v1
kind: MachineConfig
metadata:
  name: 50-chrony
  labels:
    ${GROUP}/role: worker
spec:
  config:
    ignition:
      version: 3.4.0
    storage:
      files:
        - path: /etc/chrony.conf
          mode: 644
---
apiVersion: v1
kind: Secret
metadata:
  name: s
---
apiVersion: ${GROUP}/v1
kind: MachineConfig
metadata:
  name: 51-fips
  labels:
    ${GROUP}/role: workers
spec:
  fips: "yes"
`;
const CONTROL = /(?!\n)[\p{Cc}\p{Cf}]/u;
const fine = machineConfig('50-a', 'worker', [file('/etc/a', 'a')]);

describe('slipway validate', () => {
  it('prints one line for each problem, by file and line, and the totals', async () => {
    const dir = await fleet({ 'b.yaml': YAML, 'a.yaml': 'a: b: c\n', 'c.json': fine });
    const { out, err, code } = await validate(dir);
    expect({ lines: out.split('\n'), err, code }).toEqual({
      lines: [
        expect.stringMatching(/^a\.yaml:1: error: a value contains a colon .* \[SLW_CLI_MANIFEST\]$/),
        expect.stringMatching(
          /^b\.yaml:15: error: MachineConfig 50-chrony, spec\.config\.storage\.files\[0\]\.mode: .* \[SLW_RENDER_MODE\]$/,
        ),
        expect.stringMatching(/^b\.yaml:27: warning: MachineConfig 51-fips, .* \[SLW_RENDER_UNSELECTED\]$/),
        expect.stringMatching(/^b\.yaml:29: error: MachineConfig 51-fips, spec\.fips: .* \[SLW_CLI_MANIFEST\]$/),
        '3 files, 3 objects: 3 errors, 1 warning; not checked: Secret 1',
        '',
      ],
      err: '',
      code: 1,
    });
  });

  it('exits 0 with only warnings', async () => {
    const dir = await fleet({ 'a.json': machineConfig('50-a', 'workers', []) });
    const { out, code } = await validate(dir);
    expect(out).toMatch(
      /^a\.json:1: warning: .*Did you mean worker\? \[SLW_RENDER_UNSELECTED\]\n1 file, 1 object: 0 errors, 1 warning\n$/,
    );
    expect(code).toBe(0);
  });

  it('exits 0 with only objects that nothing acts on', async () => {
    const kubeletConfig = { apiVersion: `${GROUP}/v1`, kind: 'KubeletConfig', metadata: { name: 'a' } };
    const { out, err, code } = await validate(await fleet({ 'a.json': kubeletConfig }));
    expect(out).toMatch(
      /^a\.json:1: warning: KubeletConfig a: nothing in Slipway acts on this kind; .* \[SLW_CLI_FOREIGN\]\n/,
    );
    expect({ err, code }).toEqual({ err: '', code: 0 });
  });

  it('knows the pools of all files, in any order', async () => {
    const dir = await fleet({ 'a.json': machineConfig('50-a', 'infra', []), 'z.json': customPool('infra') });
    expect((await validate(dir)).out).toBe('2 files, 2 objects: 0 errors, 0 warnings\n');
  });

  it('reports the same object twice, also in another file, and not of another namespace', async () => {
    const dataImage = (namespace: string) => ({
      apiVersion: 'metal3.io/v1alpha1',
      kind: 'DataImage',
      metadata: { name: 'host', namespace },
      spec: { url: 'https://example.com/a.iso' },
    });
    const dir = await fleet({
      'a.json': fine,
      'b.json': { kind: 'List', items: [dataImage('x'), dataImage('y'), fine] },
    });
    const { out, code } = await validate(dir);
    expect(out).toBe(
      'b.json:1: error: MachineConfig 50-a is already in a.json; remove one of them [SLW_CLI_MANIFEST]\n2 files, 4 objects: 1 error, 0 warnings\n',
    );
    expect(code).toBe(1);
  });

  it('reports objects of a singleton that Slipway does not read', async () => {
    const named = (apiVersion: string, kind: string, name: string) => ({
      apiVersion,
      kind,
      metadata: { name },
      spec: {},
    });
    const dir = await fleet({
      'a.json': named('operator.openshift.io/v1', 'MachineConfiguration', 'cluster'),
      'b.json': named('operator.openshift.io/v1', 'MachineConfiguration', 'other'),
      'c.json': named('config.openshift.io/v1', 'FeatureGate', 'other'),
    });
    const { out, code } = await validate(dir);
    expect(out).toMatch(
      /^b\.json:1: error: MachineConfiguration other.*cluster.*\nc\.json:1: warning: FeatureGate other.*cluster.*\n3 files/,
    );
    expect(code).toBe(1);
  });

  it('reads Lists and several documents from stdin', async () => {
    const bad = machineConfig('60-b', 'worker', [], { kernelType: 'fast' });
    const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [fine, bad] }, null, 2);
    const { out, code } = await runCommand(validateCommand, ['-f', '-'], list);
    expect(out).toMatch(
      /^stdin:\d\d: error: MachineConfig 60-b, spec\.kernelType: .*\[SLW_RENDER_KERNEL_TYPE\]\n1 file, 2 objects: 1 error/,
    );
    expect(code).toBe(1);
  });

  it('does not fetch remote content, and states that once', async () => {
    const remote = (name: string) =>
      machineConfig(name, 'worker', [{ path: '/etc/a', contents: { source: 'https://u:pw@example.com/a' } }]);
    const { out, err, code } = await validate(await fleet({ 'a.json': remote('50-a'), 'b.json': remote('51-b') }));
    expect({ out, err, code }).toEqual({
      out: '2 files, 2 objects: 0 errors, 0 warnings\n',
      err: 'note: remote content of 2 MachineConfigs is not fetched and not checked\n',
      code: 0,
    });
  });

  it('prints JSON with one entry for each problem, and totals', async () => {
    const dir = await fleet({
      'a.json': machineConfig('50-a', 'worker', [], { kernelType: 'fast' }),
      's.json': { apiVersion: 'v1', kind: 'Secret' },
    });
    const { out, code } = await validate(dir, ['-o', 'json']);
    expect(JSON.parse(out)).toEqual({
      findings: [
        {
          file: 'a.json',
          line: 1,
          severity: 'error',
          code: 'SLW_RENDER_KERNEL_TYPE',
          kind: 'MachineConfig',
          name: '50-a',
          field: 'spec.kernelType',
          message: expect.stringMatching(/^MachineConfig 50-a, spec\.kernelType: /),
        },
      ],
      totals: { files: 2, objects: 1, errors: 1, warnings: 0, notChecked: { Secret: 1 } },
      notes: [],
    });
    expect(code).toBe(1);
  });

  it('prints annotations for GitHub, with its escapes', async () => {
    const dir = await fleet({ 'a,b: 100%.yaml': `${YAML.split('---')[0]}  kernelType: "50%\\r\\nfast"\n` });
    const { out, code } = await validate(dir, ['-o', 'github']);
    expect(out).toMatch(
      /^::error file=a%2Cb%3A 100%25\.yaml,line=15,title=SLW_RENDER_MODE::MachineConfig 50-chrony, spec\.config/,
    );
    expect(out).toContain('50%25');
    expect(out.trimEnd().split('\n').at(-1)).toBe('1 file, 1 object: 2 errors, 0 warnings');
    expect(code).toBe(1);
    const padding = { ...fine, metadata: { name: 'a', annotations: { a: 'x'.repeat(4 * 1024 * 1024) } } };
    const large = await validate(await fleet({ 'a.json': { kind: 'List', items: [fine, padding] } }), ['-o', 'github']);
    expect(large.out).toMatch(/^::error file=a\.json,title=SLW_CLI_MANIFEST::item 2: MachineConfig a, metadata\.annot/);
  });

  it('prints no control characters, which move the cursor of a terminal and of a log', async () => {
    const name = 'a\u001b[2J\u202e\nb';
    const dir = await fleet({ 'a.json': { ...fine, metadata: { name } }, 'b.json': { ...fine, kind: `x${name}` } });
    for (const form of ['text', 'github']) {
      const { out } = await validate(dir, ['-o', form]);
      expect(out).toContain('a\\u{1b}[2J\\u{202e}');
      expect(out).not.toMatch(CONTROL);
    }
    const settings = { apiVersion: `${GROUP}/v1`, kind: 'KubeletConfig', metadata: { name } };
    const warned = await fleet({ 'a.json': { apiVersion: 'v1', kind: 'List', items: [fine, settings] } });
    const { err: warning } = await runInProcess('render', '-f', warned, '--pool', 'worker', '-o', 'name');
    const { err: problem } = await runInProcess('render', '-f', dir, '--pool', 'worker');
    const { err: thrown } = await runInProcess('diff', `${dir}/${name}`, dir);
    const { err: failure } = await runCommand(ignitionCommand, ['validate', join(warned, 'a.json')]);
    for (const text of [warning, problem, thrown, failure]) {
      expect(text).toContain('a\\u{1b}[2J\\u{202e}');
      expect(text).not.toMatch(CONTROL);
    }
  });

  it('shows no secrets', async () => {
    const key = 'password: hunter2hunter2';
    const dir = await fleet({ 'a.json': machineConfig('50-a', 'worker', [], { kernelType: key }) });
    for (const form of ['text', 'json', 'github']) {
      const { out } = await validate(dir, ['-o', form]);
      expect(out).toContain('SLW_RENDER_KERNEL_TYPE');
      expect(out).not.toContain('hunter2');
    }
  });

  it('reads a file without a path, such as <(kubectl kustomize .) of a shell', async () => {
    const path = join(await fleet({ 'a.json': fine }), 'a.json');
    await using handle = await open(path);
    await rm(path);
    const { out } = await runCommand(validateCommand, ['-f', `/dev/fd/${handle.fd}`]);
    expect(out).toBe('1 file, 1 object: 0 errors, 0 warnings\n');
  });

  it('does not let a broken link hide the problems of other files', async () => {
    const dir = await fleet({ 'b.json': machineConfig('50-a', 'worker', [], { kernelType: 'x' }) });
    const { symlink } = await import('node:fs/promises');
    await symlink(join(dir, 'nothing'), join(dir, 'a.yaml'));
    const { out, code } = await validate(dir);
    expect(out).toMatch(/^a\.yaml: error: it cannot be read: no such file or directory .*\nb\.json:1: error: /);
    expect(code).toBe(1);
  });

  it('leaves rendered MachineConfigs of a dump out with a warning, and refuses new ones', async () => {
    const rendered = machineConfig('rendered-worker-1', 'worker', []);
    const stored = { ...rendered, metadata: { ...rendered.metadata, name: 'rendered-worker-2', resourceVersion: '1' } };
    const { out } = await validate(await fleet({ 'a.json': fine, 'b.json': rendered, 'c.json': stored }));
    expect(out).toMatch(/^b\.json:1: error: MachineConfig rendered-worker-1 is rendered.*\nc\.json:1: warning: /);
  });

  describe('exits 2', () => {
    it.each<[string, string[], RegExp]>([
      [
        'for a path that does not exist',
        ['-f', '/nonexistent/x'],
        /^slipway: \/nonexistent\/x cannot be read: no such file/,
      ],
      [
        'for a directory without objects',
        ['-f', '.'],
        /expected objects such as MachineConfigs .*, found nothing \[SLW_CLI_MANIFEST\]\n$/,
      ],
      ['for an unknown format', ['-f', '.', '-o', 'xml'], /'xml' is invalid/],
      ['without -f', [], /--filename <PATH>' not specified/],
    ])('%s', async (_, args, message) => {
      const empty = await mkdtemp(join(tmpdir(), 'empty-'));
      directories.push(empty);
      const { err, code } = await runCommand(
        validateCommand,
        args.map((arg) => (arg === '.' ? empty : arg)),
      );
      expect(err).toMatch(message);
      expect(code).toBe(2);
    });
  });
});

describe('a large fleet', () => {
  let dir: string;
  beforeAll(async () => {
    dir = await fleet({});
    for (let index = 0; index < 1000; index += 1) {
      await writeFile(
        join(dir, `${index}.yaml`),
        YAML.replaceAll('50-chrony', `50-${index}`).replaceAll('51-fips', `51-${index}`),
      );
    }
  });

  it('of 1,000 files with mistakes in each is checked in seconds', async () => {
    const start = process.cpuUsage();
    const { out } = await validate(dir);
    const { user, system } = process.cpuUsage(start);
    expect(out).toContain('1000 files, 2000 objects: 2000 errors, 1000 warnings');
    // A few times what it takes, because the machine may be loaded.
    expect((user + system) / 1e6).toBeLessThan(20);
  });
});
