import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

// A miniature clone: the real set-up and the real npm, with a local package `node`, so that no network is needed. npm
// writes a line to installs.log each time it installs.
describe('set-up of a clone', () => {
  let root: string;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'slipway-clone-'));
    const tools = dirname(dirname(fileURLToPath(import.meta.url)));
    await mkdir(join(root, 'tools'));
    await cp(join(tools, 'setup.mjs'), join(root, 'tools', 'setup.mjs'));
    await cp(join(tools, 'setup'), join(root, 'tools', 'setup'), { recursive: true });
    await writeJson('package.json', {
      name: 'clone',
      private: true,
      workspaces: ['packages/*'],
      scripts: { postinstall: 'echo installed >>installs.log' },
      devDependencies: { node: 'file:fake-node' },
    });
    await writeJson('packages/one/package.json', { name: 'one', version: '1.0.0' });
    await writeJson('fake-node/package.json', { name: 'node', version: '26.10.0', bin: { node: 'bin/node' } });
    await writeNode('v26.10.0');
    await npm('install', '--package-lock-only', '--ignore-scripts');
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  async function writeJson(path: string, content: object): Promise<void> {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), JSON.stringify(content));
  }
  async function writeNode(version: string): Promise<void> {
    await mkdir(join(root, 'fake-node', 'bin'), { recursive: true });
    const script = `#!/bin/sh\n[ "$1" = --version ] && echo ${version} || echo "ran $*"\n`;
    await writeFile(join(root, 'fake-node', 'bin', 'node'), script, { mode: 0o755 });
  }
  const run = promisify(execFile);
  const npm = (...args: string[]) => run('npm', [...args, '--offline', '--no-audit', '--no-fund'], { cwd: root });
  const setup = (...args: string[]) => run(process.execPath, [join(root, 'tools', 'setup.mjs'), ...args], { cwd: '/' });
  const installs = async () =>
    (await readFile(join(root, 'installs.log'), 'utf8').catch(() => '')).split('\n').length - 1;

  it('installs what is missing, reports it, and runs the command on the Node of the clone', async () => {
    const { stdout, stderr } = await setup('entry.ts', '--flag', 'a b');
    expect(stdout).toBe('ran entry.ts --flag a b\n');
    expect(stderr).toMatch(/^set-up: installed packages, \d+ s\n$/);
    expect(await installs()).toBe(1);
  });

  it('prints nothing and does nothing if everything is installed', async () => {
    await setup();
    expect(await setup()).toEqual({ stdout: '', stderr: '' });
    expect(await installs()).toBe(1);
  });

  it('run twice concurrently installs once', async () => {
    const [one, two] = await Promise.all([setup('a.ts'), setup('b.ts')]);
    expect(one.stdout + two.stdout).toBe('ran a.ts\nran b.ts\n');
    expect(await installs()).toBe(1);
  });

  it('takes over from one that was killed, and repeats its unfinished installation', async () => {
    await mkdir(join(root, '.slipway'));
    const { pid } = await killed();
    await writeFile(join(root, '.slipway', 'setup.lock'), `${pid}\n`);
    await mkdir(join(root, 'node_modules', 'half'), { recursive: true });
    await setup();
    expect(await installs()).toBe(1);
    await setup();
    expect(await installs()).toBe(1);
  });

  it('installs again if the packages have changed, but not if only a script has', async () => {
    await setup();
    await writeJson('packages/one/package.json', { name: 'one', version: '1.0.0', scripts: { x: 'y' } });
    await setup();
    expect(await installs()).toBe(1);
    await writeJson('packages/two/package.json', { name: 'two', version: '1.0.0' });
    await npm('install', '--package-lock-only', '--ignore-scripts');
    await setup();
    expect(await installs()).toBe(2);
  });

  it('accepts a manual installation', async () => {
    await npm('install');
    expect(await installs()).toBe(1);
    await setup();
    expect(await installs()).toBe(1);
  });

  it('with another Node than the pinned one reports in one line what to do', async () => {
    await writeNode('v20.1.0');
    await expect(setup('entry.ts')).rejects.toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/set-up: node_modules\/\.bin\/node is not Node 26\.10\.0: .*npm rebuild node.*\n$/),
    });
  });

  async function killed(): Promise<{ pid: number }> {
    const child = execFile(process.execPath, ['-e', 'process.kill(process.pid, "SIGKILL")']);
    await new Promise((resolve) => child.on('exit', resolve));
    return { pid: child.pid ?? 0 };
  }
});
