// What the project runs comes from outside by hash or by signature. This checks the files that specify it.
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { goEnvironment } from '../go.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const readText = (path: string): Promise<string> => readFile(join(ROOT, path), 'utf8');
const PLATFORMS = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'];

interface Locked {
  version?: string;
  resolved?: string;
  integrity?: string;
  link?: boolean;
  os?: string[];
  cpu?: string[];
  libc?: string[];
  optionalDependencies?: Record<string, string>;
}

describe('package-lock.json', async () => {
  const { packages }: { packages: Record<string, Locked> } = JSON.parse(await readText('package-lock.json'));
  const fetched = Object.entries(packages).filter(([path, { link }]) => path.includes('node_modules/') && !link);

  it('has a hash for every package', () => {
    expect(fetched.length).toBeGreaterThan(200);
    const weak = fetched.filter(([, { integrity }]) => !/^sha512-[\w+/]{86}==$/.test(integrity ?? ''));
    expect(weak.map(([path]) => path)).toEqual([]);
  });

  it('names no registry, so that the one that npm is configured with is used', () => {
    expect(fetched.filter(([, { resolved }]) => resolved !== undefined).map(([path]) => path)).toEqual([]);
  });

  it('has every optional package of every package', () => {
    const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies)
        .filter((name) => findInstalled(path, name) === undefined)
        .map((name) => `${path}: ${name}`),
    );
    expect(missing).toEqual([]);
  });

  it.each(PLATFORMS)('has the native parts of every tool for %s', (platform) => {
    const [os = '', cpu = ''] = platform.split('-');
    const native = Object.entries(packages).filter(([path, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies).some((name) => findInstalled(path, name)?.cpu !== undefined),
    );
    const lacking = native.filter(([path, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies).every((name) => {
        const part = findInstalled(path, name);
        return part?.os?.includes(os) !== true || part.cpu?.includes(cpu) !== true || part.integrity === undefined;
      }),
    );
    expect(native.length).toBeGreaterThan(5);
    expect(lacking.map(([path]) => path)).toEqual([]);
  });

  /** As Node looks packages up: in the package's own node_modules, then in those of the folders above it. */
  function findInstalled(from: string, name: string): Locked | undefined {
    for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/')))) {
      const found = packages[folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`];
      if (found !== undefined || folder === '') return found;
      if (!folder.includes('/')) return packages[`node_modules/${name}`];
    }
  }
});

interface PinnedNode {
  version: string;
  platforms: Record<string, { package: string; sha256: string }>;
}

describe('set-up', async () => {
  const pinnedNode: PinnedNode = JSON.parse(await readText('tools/setup/pinned-node.json'));

  it('has a hash of Node for every platform, of the version that the types describe', async () => {
    expect(Object.keys(pinnedNode.platforms)).toEqual(PLATFORMS);
    for (const { sha256 } of Object.values(pinnedNode.platforms)) expect(sha256).toMatch(/^[0-9a-f]{64}$/);
    const { devDependencies } = JSON.parse(await readText('package.json'));
    expect(pinnedNode.version.split('.')[0]).toBe(String(devDependencies['@types/node']).split('.')[0]);
  });

  it('runs this project on the pinned Node', () => {
    expect(process.version).toBe(`v${pinnedNode.version}`);
  });

  it('lets npm run no scripts and install only what the lock file has', async () => {
    const source = await readText('tools/setup/install.mjs');
    expect(source).toContain("['ci', '--ignore-scripts'");
    expect(source).not.toMatch(/'(?:install|rebuild|exec)'/);
    expect(JSON.parse(await readText('package.json'))).not.toHaveProperty('allowScripts');
  });

  it('lets an installation by hand run no scripts either, and change no lock file to another form', async () => {
    const lines = (await readText('.npmrc')).split('\n');
    expect(lines).toEqual(expect.arrayContaining(['ignore-scripts=true', 'omit-lockfile-registry-resolved=true']));
  });
});

describe('programs of other languages', async () => {
  const entries = await readdir(join(ROOT, 'tools'), { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));

  it('are Go modules with a go.sum that has every module of go.mod', async () => {
    const modules = files.filter((file) => file.endsWith('/go.mod'));
    expect(modules.length).toBeGreaterThan(4);
    for (const file of modules) {
      const sums = await readFile(join(dirname(file), 'go.sum'), 'utf8');
      for (const line of sums.trim().split('\n')) expect(line).toMatch(/^\S+ v\S+ h1:[\w+/]{43}=$/);
      const goMod = await readFile(file, 'utf8');
      // A replaced module has the sum of its replacement.
      const replaced = new Set([...goMod.matchAll(/^(?:replace )?\s*(\S+)(?: v\S+)? => /gm)].map(([, path]) => path));
      const required = [...goMod.matchAll(/^\s+([a-z][\w.-]*\.[\w.-]+\/\S+) (v\S+)(?: \/\/.*)?$/gm)];
      const missing = required.filter(
        ([, path, version]) => !replaced.has(path) && !sums.includes(`${path} ${version}/go.mod h1:`),
      );
      expect(missing.map(([line]) => line)).toEqual([]);
    }
  });

  it('are built by Go as go.mod and go.sum specify, whatever flags the user has set', async () => {
    expect(goEnvironment({ GOFLAGS: '-mod=mod' }, '0')).toMatchObject({ GOFLAGS: '-mod=readonly', GOWORK: 'off' });
    const others: string[] = [];
    for (const file of files.filter((each) => each.endsWith('.ts') && !each.endsWith('.test.ts'))) {
      const text = await readFile(file, 'utf8');
      if (/\brun\([^)]*'go'/.test(text) && !text.includes('goEnvironment')) others.push(file);
    }
    expect(others.map((file) => relative(ROOT, file))).toEqual([]);
  });

  it('are Python wheels of which every one has a hash', async () => {
    for (const name of ['requirements.lock', 'uv.lock']) {
      const lines = (await readText(`tools/ironic/${name}`)).replaceAll('\\\n', ' ').trim().split('\n');
      const requirements = lines.filter((line) => !line.startsWith('#'));
      expect(requirements.length).toBeGreaterThan(0);
      for (const line of requirements) expect(line).toMatch(/^[\w.-]+==\S+ .*--hash=sha256:[0-9a-f]{64}/);
    }
    const installs = (await readText('tools/ironic/environment.ts')).match(/'(?:sync|install)', .*/g) ?? [];
    expect(installs).toHaveLength(2);
    for (const line of installs) expect(line).toMatch(/'--require-hashes', '--only-binary', ':all:'/);
  });

  it('are Debian packages that apt verifies, and nothing turns that off', async () => {
    expect(await readText('tools/debian/apt.ts')).toContain('APT::Get::AllowUnauthenticated=false');
    const around = /allow-unauthenticated|trusted=yes|no-check-gpg|AllowUnauthenticated=true|'(?:curl|wget)'/i;
    const others: string[] = [];
    for (const file of files.filter((each) => /\.(?:ts|mjs|py)$/.test(each) && each !== import.meta.filename)) {
      if (around.test(await readFile(file, 'utf8'))) others.push(relative(ROOT, file));
    }
    expect(others).toEqual([]);
  });
});
