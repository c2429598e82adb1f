import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  createReadStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';

/**
 * The Node that everything runs on. It comes from the npm registry; the hashes are of bin/node in its packages. After a
 * change of the version, `npm pack PACKAGE@VERSION` and `tar -xzOf FILE package/bin/node | sha256sum` print them.
 */
export const pinnedNode = JSON.parse(
  readFileSync(join(dirname(fileURLToPath(import.meta.url)), 'pinned-node.json'), 'utf8'),
);

const { version, platforms } = pinnedNode;

/**
 * The path of the pinned Node in the user's cache, as CONTRIBUTING.md describes for other programs. No script of a
 * package is run: only a program with the checked-in hash gets to this path.
 */
export async function fetchNode(runNpm) {
  const platform = `${process.platform}-${process.arch}`;
  const pinned = platforms[platform];
  if (pinned === undefined) {
    throw new Error(`no Node is pinned for ${platform}: use one of ${Object.keys(platforms).join(', ')}`);
  }
  // Named by its hash: a change of the pin starts a new one.
  const path = join(cacheRoot(), 'slipway', `node-${version}-${pinned.sha256.slice(0, 12)}`, 'node');
  // Also one from the cache: another program may have damaged it since.
  if (existsSync(path) && (await sha256(path)) === pinned.sha256) return path;
  mkdirSync(dirname(path), { recursive: true });
  removeUnfinished(dirname(path));
  const temporary = mkdtempSync(join(dirname(path), 'unfinished-'));
  try {
    await unpackNode(pinned, temporary, runNpm);
    // A rename: another set-up, or a running program, sees the old file or the new one.
    renameSync(join(temporary, 'node'), path);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
  await requireRunnable(path, platform);
  return path;
}

const ABANDONED_MS = 3_600_000;

/** What killed runs left; the set-up of another clone may be at work here. */
function removeUnfinished(directory) {
  for (const name of readdirSync(directory).filter((each) => each.startsWith('unfinished-'))) {
    const { mtimeMs = Date.now() } = statSync(join(directory, name), { throwIfNoEntry: false }) ?? {};
    if (Date.now() - mtimeMs > ABANDONED_MS) rmSync(join(directory, name), { recursive: true, force: true });
  }
}

async function unpackNode(pinned, directory, runNpm) {
  const name = `${pinned.package}@${version}`;
  const step = { doing: `fetching Node ${version} (60 MB, once)`, done: `fetched Node ${version}` };
  await runNpm(['pack', name, '--pack-destination', directory, '--ignore-scripts', '--loglevel=error'], step);
  const archive = readdirSync(directory).find((file) => file.endsWith('.tgz'));
  if (archive === undefined) throw new Error(`npm pack ${name} wrote no archive: update npm`);
  const path = join(directory, 'node');
  await extract(join(directory, archive), 'package/bin/node', path);
  const found = await sha256(path);
  if (found !== pinned.sha256) {
    throw new Error(
      `bin/node of ${name} has SHA-256 ${found}, expected ${pinned.sha256}: the registry, or npm's cache, has another program under this name. It was deleted and not run. Check the registry that \`npm config get registry\` prints, run \`npm cache clean --force\`, then try again`,
    );
  }
  chmodSync(path, 0o755);
}

/** Only the contents of one file, so that the archive, which is not verified yet, cannot choose what is written. */
function extract(archive, member, path) {
  const output = openSync(path, 'wx', 0o600);
  const child = spawn('tar', ['-xzOf', archive, member], { stdio: ['ignore', output, 2] });
  return new Promise((resolve, reject) => {
    child.on('error', () => reject(new Error('tar is not on PATH: install it, then try again')));
    child.on('close', (code, signal) =>
      code === 0 ? resolve() : reject(new Error(`tar failed with ${signal ?? code} on ${basename(archive)}`)),
    );
  }).finally(() => closeSync(output));
}

async function sha256(path) {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

/** For example not on a Linux without glibc. */
function requireRunnable(path, platform) {
  return new Promise((resolve, reject) => {
    const child = spawn(path, ['--version'], { stdio: 'ignore' });
    const fail = () => reject(new Error(`${path} does not run here: it is built for ${platform} with the usual libc`));
    child.on('error', fail);
    child.on('close', (code) => (code === 0 ? resolve() : fail()));
  });
}

/** As cacheRoot of tools/controlplane/cache.ts, which this cannot import: it runs on an older Node. */
function cacheRoot() {
  const set = process.env.XDG_CACHE_HOME;
  if (set !== undefined && set.startsWith('/')) return set;
  return process.platform === 'darwin' ? join(homedir(), 'Library', 'Caches') : join(homedir(), '.cache');
}
