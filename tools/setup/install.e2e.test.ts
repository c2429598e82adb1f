import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { type FakeServer, startFakeServer } from '@slipway/testing/fake-http-server';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { buildTar } from '../registry/tar.ts';

const VERSION = '26.10.0';
const NODE_PACKAGE = 'node-of-this-machine';

// Says what it runs, and lends npm a real Node.
const FAKE_NODE = `#!/bin/sh
case "$1" in
  *npm-cli.js) exec '${process.execPath}' "$@" ;;
  *) echo "ran $*" ;;
esac
`;

const run = promisify(execFile);

// A miniature clone: the real set-up and the real npm, with a registry, a Node and caches of its own.
describe('set-up of a clone', () => {
  let root: string;
  let registry: FakeServer;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'slipway-clone-'));
    registry = await startFakeServer();
    const tools = dirname(dirname(fileURLToPath(import.meta.url)));
    await mkdir(join(root, 'tools'));
    await cp(join(tools, 'setup.mjs'), join(root, 'tools', 'setup.mjs'));
    await cp(join(tools, 'setup'), join(root, 'tools', 'setup'), { recursive: true });
    publish(NODE_PACKAGE, VERSION, { 'bin/node': FAKE_NODE });
    await pinNode(FAKE_NODE);
    publish('greeter', '1.0.0', {}, { scripts: { postinstall: 'echo ran >../../script-ran' } });
    await writeJson('package.json', {
      name: 'clone',
      private: true,
      workspaces: ['packages/*'],
      scripts: { postinstall: 'echo ran >script-ran' },
      devDependencies: { greeter: '1.0.0' },
    });
    await writeJson('packages/one/package.json', { name: 'one', version: '1.0.0' });
    await updateLock();
  });
  afterEach(async () => {
    await registry.stop();
    await rm(root, { recursive: true, force: true });
  });

  async function writeJson(path: string, content: object): Promise<void> {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), JSON.stringify(content));
  }

  function publish(name: string, version: string, files: Record<string, string>, settings: object = {}): void {
    const manifest = { name, version, ...settings };
    const contents = Object.entries({ ...files, 'package.json': JSON.stringify(manifest) });
    const archive = gzipSync(
      Buffer.concat([...buildTar(contents.map(([path, text]) => ({ path: `package/${path}`, contents: text })))]),
    );
    const integrity = `sha512-${createHash('sha512').update(archive).digest('base64')}`;
    const tarball = `${registry.url}/${name}/-/${name}-${version}.tgz`;
    const versions = { [version]: { ...manifest, dist: { integrity, tarball } } };
    registry.serve(`/${name}`, JSON.stringify({ name, 'dist-tags': { latest: version }, versions }));
    registry.serve(`/${name}/-/${name}-${version}.tgz`, archive);
  }

  async function pinNode(program: string): Promise<void> {
    const sha256 = createHash('sha256').update(program).digest('hex');
    const platforms = { [`${process.platform}-${process.arch}`]: { package: NODE_PACKAGE, sha256 } };
    await writeJson('tools/setup/pinned-node.json', { version: VERSION, platforms });
  }

  const environment = (): NodeJS.ProcessEnv => ({
    ...process.env,
    XDG_CACHE_HOME: join(root, 'cache'),
    npm_config_cache: join(root, 'npm-cache'),
    npm_config_registry: registry.url,
    npm_config_omit_lockfile_registry_resolved: 'true',
    // The set-up must not depend on the setting in .npmrc, which npm hands on to this test.
    npm_config_ignore_scripts: 'false',
  });
  const npm = (...args: string[]) =>
    run('npm', [...args, '--no-audit', '--no-fund'], { cwd: root, env: environment() });
  const updateLock = () => npm('install', '--package-lock-only', '--ignore-scripts');
  let reported = '';
  beforeEach(() => (reported = ''));
  async function setup(...args: string[]): Promise<{ stdout: string; stderr: string }> {
    const result = await run(process.execPath, [join(root, 'tools', 'setup.mjs'), ...args], {
      cwd: '/',
      env: environment(),
    });
    reported += result.stderr;
    return result;
  }
  const countInstalls = () => reported.split('set-up: installed packages').length - 1;
  const nodeDirectory = async (): Promise<string> => {
    const [name = ''] = await readdir(join(root, 'cache/slipway'));
    return join(root, 'cache/slipway', name);
  };

  it('fetches Node, installs packages, reports both, runs no script of them, and runs the command', async () => {
    const { stdout, stderr } = await setup('entry.ts', '--flag', 'a b');
    expect(stdout).toBe('ran entry.ts --flag a b\n');
    expect(stderr).toMatch(/^set-up: fetched Node 26\.10\.0, \d+ s\nset-up: installed packages, \d+ s\n$/);
    expect(existsSync(join(root, 'node_modules/greeter/package.json'))).toBe(true);
    expect(existsSync(join(root, 'script-ran'))).toBe(false);
    expect(await readdir(await nodeDirectory())).toEqual(['node']);
  });

  it('prints nothing and does nothing if everything is installed', async () => {
    await setup();
    const requests = registry.requests.length;
    expect(await setup()).toEqual({ stdout: '', stderr: '' });
    expect(registry.requests.length).toBe(requests);
  });

  it('run twice concurrently installs once', async () => {
    const [one, two] = await Promise.all([setup('a.ts'), setup('b.ts')]);
    expect(one.stdout + two.stdout).toBe('ran a.ts\nran b.ts\n');
    expect(countInstalls()).toBe(1);
  });

  it('takes over from one that was killed, and repeats its unfinished installation', async () => {
    await mkdir(join(root, '.slipway'));
    const { pid } = await killed();
    await writeFile(join(root, '.slipway', 'setup.lock'), `${pid}\n`);
    await mkdir(join(root, 'node_modules', 'half'), { recursive: true });
    await setup();
    await setup();
    expect(countInstalls()).toBe(1);
    expect(existsSync(join(root, 'node_modules/half'))).toBe(false);
  });

  it('installs again if the packages have changed, but not if only a script has', async () => {
    await setup();
    await writeJson('packages/one/package.json', { name: 'one', version: '1.0.0', scripts: { x: 'y' } });
    await setup();
    expect(countInstalls()).toBe(1);
    await writeJson('packages/two/package.json', { name: 'two', version: '1.0.0' });
    await updateLock();
    await setup();
    expect(countInstalls()).toBe(2);
  });

  it('accepts a manual installation', async () => {
    await npm('ci', '--ignore-scripts');
    expect((await setup('entry.ts')).stdout).toBe('ran entry.ts\n');
    expect(countInstalls()).toBe(0);
  });

  it('refuses another program under the name of the pinned Node, and does not run or keep it', async () => {
    publish(NODE_PACKAGE, VERSION, { 'bin/node': `${FAKE_NODE}touch '${join(root, 'other-ran')}'\n` });
    const wrong = /bin\/node of node-of-this-machine@26\.10\.0 has SHA-256 \w{64}, expected \w{64}: .* not run\./;
    await expect(setup('entry.ts')).rejects.toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(wrong),
    });
    expect(existsSync(join(root, 'other-ran'))).toBe(false);
    expect(await readdir(await nodeDirectory())).toEqual([]);
    expect(existsSync(join(root, 'node_modules'))).toBe(false);
  });

  it('replaces a Node in the cache that was changed since', async () => {
    await setup();
    await writeFile(join(await nodeDirectory(), 'node'), 'damaged');
    await rm(join(root, 'node_modules/.slipway-setup'));
    expect((await setup('entry.ts')).stdout).toBe('ran entry.ts\n');
  });

  it('replaces the link if the cache was deleted', async () => {
    await setup();
    await rm(join(root, 'cache'), { recursive: true });
    expect((await setup('entry.ts')).stdout).toBe('ran entry.ts\n');
    expect(countInstalls()).toBe(1);
  });

  it.each([
    ['a package that the lock file lacks', { greeter: '1.0.0', stranger: '1.0.0' }, /stranger/],
    ['another version than the one in the lock file', { greeter: '1.1.0' }, /greeter@1\.1\.0/],
  ])('refuses %s', async (_, devDependencies, message) => {
    publish('stranger', '1.0.0', {});
    const manifest: object = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
    await writeJson('package.json', { ...manifest, devDependencies });
    await expect(setup('entry.ts')).rejects.toMatchObject({ code: 1, stderr: expect.stringMatching(message) });
    expect(existsSync(join(root, 'node_modules/stranger'))).toBe(false);
  });

  it('refuses a package whose contents differ from the lock file', async () => {
    publish('greeter', '1.0.0', { 'index.js': 'other' });
    await rm(join(root, 'npm-cache'), { recursive: true });
    await expect(setup('entry.ts')).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('EINTEGRITY') });
  });

  it('says so if no Node is pinned for this platform', async () => {
    const platforms = { 'plan9-mips': { package: 'x', sha256: 'y' } };
    await writeJson('tools/setup/pinned-node.json', { version: '1.2.3', platforms });
    await expect(setup()).rejects.toMatchObject({
      stderr: `set-up: no Node is pinned for ${process.platform}-${process.arch}: use one of plan9-mips\n`,
    });
  });

  async function killed(): Promise<{ pid: number }> {
    const child = execFile(process.execPath, ['-e', 'process.kill(process.pid, "SIGKILL")']);
    await new Promise((resolve) => child.on('exit', resolve));
    return { pid: child.pid ?? 0 };
  }
});
