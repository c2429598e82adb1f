import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheRoot } from '../controlplane/cache.ts';
import { OracleError } from './errors.ts';

const SOURCES = import.meta.dirname;

/** The built oracle of exactly these sources; built once, then taken from the user's cache. */
export async function resolveOracle(): Promise<string> {
  const cache = join(cacheRoot(process.env, process.platform, homedir()), 'slipway');
  const binary = join(cache, `ignition-oracle-${await hashSources()}`);
  if (await exists(binary)) return binary;
  console.error('building the Ignition oracle (about a minute the first time)');
  await build(cache, binary);
  return binary;
}

async function hashSources(): Promise<string> {
  const names = (await readdir(SOURCES)).filter((name) => /\.go$|^go\.(mod|sum)$/.test(name)).toSorted();
  const hash = createHash('sha256');
  for (const name of names) hash.update(`${name}\0`).update(await readFile(join(SOURCES, name)));
  return hash.digest('hex').slice(0, 16);
}

/** Two builders at once cost time, nothing else: each has a directory of its own, and the rename is atomic. */
async function build(cache: string, binary: string): Promise<void> {
  await mkdir(cache, { recursive: true });
  const own = await mkdtemp(join(cache, 'ignition-oracle-build-'));
  try {
    const built = join(own, 'oracle');
    await promisify(execFile)('nice', ['go', 'build', '-trimpath', '-o', built, '.'], {
      cwd: SOURCES,
      env: { ...process.env, GOTOOLCHAIN: 'local' },
      maxBuffer: 16 << 20,
    });
    await rename(built, binary);
  } catch (error) {
    throw new OracleError(
      'SLW_ORACLE_BUILD_FAILED',
      `cannot build the Ignition oracle in ${SOURCES} with \`go build\`: ${reasonOf(error)}. It needs Go 1.25 or newer and the Go module proxy`,
      { cause: error },
    );
  } finally {
    await rm(own, { recursive: true, force: true });
  }
}

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );

function reasonOf(error: unknown): string {
  if (error instanceof Error && 'stderr' in error && typeof error.stderr === 'string' && error.stderr !== '') {
    return error.stderr.slice(-2000).trim();
  }
  return error instanceof Error ? error.message : String(error);
}
