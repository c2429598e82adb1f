import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withLock } from './lock.mjs';
import { fetchNode, pinnedNode } from './node.mjs';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const modules = join(root, 'node_modules');
const marker = join(modules, '.slipway-setup');
// npm writes it last.
const installRecord = join(modules, '.package-lock.json');

export const nodePath = join(modules, '.bin', 'node');

/**
 * Installs node_modules exactly as specified by package-lock.json, with the pinned Node. No script of a package is run.
 * Silent if it is up to date.
 */
export async function installPackages() {
  if (isReady()) {
    // Newer than every file it was compared with: ./slipway checks that without running npm.
    utimesSync(marker, new Date(), new Date());
    return;
  }
  mkdirSync(join(root, '.slipway'), { recursive: true, mode: 0o700 });
  await withLock(join(root, '.slipway', 'setup.lock'), async () => {
    // Another run may have installed while this one waited.
    if (isReady()) return;
    const node = await fetchNode(runNpm);
    if (missingPackages().length > 0) await install(node);
    linkNode(node);
    // Last: an interrupted installation is repeated.
    writeFileSync(marker, fingerprint());
  });
}

async function install(node) {
  rmSync(marker, { force: true });
  const args = ['ci', '--ignore-scripts', '--include=dev', '--include=optional', '--loglevel=error'];
  const step = { doing: 'installing packages (half a minute, once)', done: 'installed packages' };
  // On the pinned Node: npm on an old one omits the native parts of tools that require a newer one.
  await runNpm([...args, '--no-audit', '--no-fund'], step, node);
  const missing = missingPackages();
  if (missing.length > 0)
    throw new Error(`npm did not install ${missing.join(', ')}: update npm, or install Node 22 or newer with npm`);
}

/** As a package with a command would do it. */
function linkNode(node) {
  mkdirSync(dirname(nodePath), { recursive: true });
  const next = `${nodePath}.next`;
  rmSync(next, { force: true });
  symlinkSync(node, next);
  renameSync(next, nodePath);
}

function isReady() {
  return existsSync(nodePath) && read(marker) === fingerprint();
}

/** Everything that determines what is installed: the pinned Node, the lock file and the manifest of each package. */
function fingerprint() {
  const hash = createHash('sha256').update(JSON.stringify(pinnedNode));
  hash.update(readFileSync(join(root, 'package-lock.json')));
  for (const file of packageFiles()) {
    const { dependencies, devDependencies, workspaces } = JSON.parse(readFileSync(file, 'utf8'));
    hash.update(JSON.stringify([dependencies, devDependencies, workspaces]));
  }
  return hash.digest('hex');
}

function packageFiles() {
  const own = join(root, 'package.json');
  const { workspaces } = JSON.parse(readFileSync(own, 'utf8'));
  const folders = workspaces.flatMap((pattern) => {
    if (!pattern.endsWith('/*')) return [pattern];
    const parent = pattern.slice(0, -2);
    return readdirSync(join(root, parent)).map((name) => `${parent}/${name}`);
  });
  return [own, ...folders.map((folder) => join(root, folder, 'package.json')).filter((file) => existsSync(file))];
}

/** Packages in the lock file that are not installed: none after a complete `npm ci`, also a manual one. */
function missingPackages() {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  if (!existsSync(installRecord)) return Object.keys(packages);
  return Object.entries(packages)
    .filter(([, locked]) => locked.optional !== true || isNative(locked))
    .filter(([path, { version, link }]) => {
      const found = read(join(root, path, 'package.json'));
      return found === undefined || (link !== true && JSON.parse(found).version !== version);
    })
    .map(([path]) => path);
}

/** Whether it is built for this platform. Other optional packages depend on the packages that need them. */
function isNative({ os = [], cpu = [], libc }) {
  const libcFits = libc === undefined || libc.includes(currentLibc());
  return os.includes(process.platform) && cpu.includes(process.arch) && libcFits;
}

function currentLibc() {
  return process.report.getReport().header.glibcVersionRuntime === undefined ? 'musl' : 'glibc';
}

function runNpm(args, { doing, done }, node) {
  const started = Date.now();
  const seconds = () => `${Math.round((Date.now() - started) / 1000)} s`;
  // On a terminal npm shows its own progress.
  const clock = process.stderr.isTTY ? undefined : setInterval(() => say(`${doing}: ${seconds()}`), 15_000);
  return new Promise((resolve, reject) => {
    const [program, ...first] = npmCommand(node);
    // Errors go to standard error, its summary nowhere: standard output belongs to the program that runs afterwards.
    // Everything is specified by hash, so cached packages need not be revalidated.
    const env = { npm_config_prefer_offline: 'true', ...outerEnvironment() };
    const child = spawn(program, [...first, ...args], { cwd: root, stdio: ['ignore', 'ignore', 2], env });
    child.on('error', () => reject(new Error('npm is not on PATH: install Node 18 or newer with npm')));
    child.on('close', (code, signal) => {
      clearInterval(clock);
      if (code === 0) {
        say(`${done}, ${seconds()}`);
        resolve();
      } else {
        const ending = signal ?? `exit code ${code}`;
        reject(new Error(`npm ${args[0]} failed with ${ending}: see its message above, then try again`));
      }
    });
  });
}

/** The user's npm, or its script run by this Node. */
function npmCommand(node) {
  const onPath = outerPath().map((directory) => join(directory, 'npm'));
  const script = [
    process.env.npm_execpath ?? '',
    ...onPath.filter((file) => existsSync(file)).map((file) => realpathSync(file)),
  ].find((file) => file.endsWith('npm-cli.js'));
  return node === undefined || script === undefined ? ['npm'] : [node, script];
}

function outerEnvironment() {
  return { ...process.env, PATH: outerPath().join(delimiter) };
}

/** Without node_modules/.bin of this clone, which npm puts first: the Node there is about to be replaced. */
function outerPath() {
  return (process.env.PATH ?? '').split(delimiter).filter((directory) => !directory.startsWith(modules));
}

function read(file) {
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

function say(message) {
  console.error(`set-up: ${message}`);
}
