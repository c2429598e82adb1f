import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withLock } from './lock.mjs';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const modules = join(root, 'node_modules');
const marker = join(modules, '.slipway-setup');

export const nodePath = join(modules, '.bin', 'node');

/** Brings node_modules to what package-lock.json says, with the pinned Node in it. Quiet when it is there already. */
export async function installPackages() {
  if (isReady()) {
    // Newer than every file it was compared with: by that ./slipway knows without asking.
    utimesSync(marker, new Date(), new Date());
    return;
  }
  mkdirSync(join(root, '.slipway'), { recursive: true, mode: 0o700 });
  await withLock(join(root, '.slipway', 'setup.lock'), async () => {
    // Another run may have done it while we waited.
    if (isReady()) return;
    if (!isInstalled()) {
      rmSync(marker, { force: true });
      say('installing packages (about half a minute the first time)');
      await npm(['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'], 'installing packages');
    }
    await requirePinnedNode();
    // Last: an install that was cut short is done again.
    writeFileSync(marker, fingerprint());
  });
}

function isReady() {
  return existsSync(nodePath) && read(marker) === fingerprint();
}

/** Everything that decides what is installed: the lock file and each package's own wishes. */
function fingerprint() {
  const hash = createHash('sha256').update(readFileSync(join(root, 'package-lock.json')));
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

/** True after somebody's own `npm install`: it was finished, which npm records last, and is what is locked now. */
function isInstalled() {
  if (!existsSync(join(modules, '.package-lock.json'))) return false;
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  return Object.entries(packages).every(([path, { version, link, optional }]) => {
    const found = read(join(root, path, 'package.json'));
    // A package for another platform is locked too.
    if (found === undefined) return optional === true;
    return link === true || JSON.parse(found).version === version;
  });
}

async function requirePinnedNode() {
  if (await runsPinnedNode()) return;
  // npm may have been told not to run install scripts, by which the package `node` fetches its program.
  say('fetching the pinned Node');
  await npm(['rebuild', 'node', '--loglevel=error'], 'fetching the pinned Node');
  if (await runsPinnedNode()) return;
  throw new Error(
    `node_modules/.bin/node is not Node ${pinnedVersion()}: npm did not run the install script of the package \`node\`. Allow it once with: npm rebuild node --ignore-scripts=false`,
  );
}

const pinnedVersion = () => JSON.parse(read(join(modules, 'node', 'package.json')) ?? '{}').version;

function runsPinnedNode() {
  return new Promise((resolve) => {
    const child = spawn(nodePath, ['--version'], { stdio: ['ignore', 'pipe', 'ignore'] });
    let output = '';
    child.stdout.on('data', (chunk) => (output += chunk));
    child.on('error', () => resolve(false));
    child.on('close', () => resolve(output.trim() === `v${pinnedVersion()}`));
  });
}

function npm(args, doing) {
  const started = Date.now();
  // On a terminal npm shows its own progress.
  const clock = process.stderr.isTTY
    ? undefined
    : setInterval(() => say(`${doing}, ${Math.round((Date.now() - started) / 1000)} s`), 15_000);
  return new Promise((resolve, reject) => {
    // Everything to standard error: standard output belongs to what is run afterwards.
    const child = spawn('npm', args, {
      cwd: root,
      stdio: ['ignore', 2, 2],
      env: { ...process.env, PATH: outerPath() },
    });
    child.on('error', () => reject(new Error('npm is not on PATH: install Node 18 or newer with npm')));
    child.on('close', (code, signal) => {
      clearInterval(clock);
      if (code === 0) resolve();
      else
        reject(
          new Error(
            `npm ${args[0]} ended with ${signal ?? `exit code ${code}`}: see its message above, then try again`,
          ),
        );
    });
  });
}

/** Without our own node_modules/.bin, which npm puts first: the Node there is about to be replaced. */
function outerPath() {
  const path = (process.env.PATH ?? '').split(delimiter);
  return path.filter((directory) => !directory.startsWith(modules)).join(delimiter);
}

function read(file) {
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

function say(message) {
  console.error(`set-up: ${message}`);
}
