import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { cachedPath, makeOnce } from '../controlplane/cache.ts';
import { showStep, terminalProgress } from '../controlplane/progress.ts';
import { goEnvironment } from '../go.ts';
import { run, RunError } from '../run.ts';
import { OracleError } from './errors.ts';

const SOURCES = import.meta.dirname;

/** The oracle of exactly these sources; built once, then taken from the user's cache. */
export async function resolveOracle(): Promise<string> {
  const binary = cachedPath(process.env, `ignition-oracle-${await hashSources()}`);
  const progress = terminalProgress();
  await makeOnce(binary, {
    doing: 'is building the Ignition oracle',
    progress,
    isThere: async () => existsSync(binary),
    async make(temporary) {
      const step = { doing: 'building the Ignition oracle (about a minute, once)', done: 'built the Ignition oracle' };
      const built = join(temporary, 'oracle');
      await showStep(progress, step, () => build(built));
      await rename(built, binary);
    },
  });
  return binary;
}

async function hashSources(): Promise<string> {
  const names = (await readdir(SOURCES)).filter((name) => /\.go$|^go\.(mod|sum)$/.test(name)).toSorted();
  const hash = createHash('sha256');
  for (const name of names) hash.update(`${name}\0`).update(await readFile(join(SOURCES, name)));
  return hash.digest('hex').slice(0, 16);
}

async function build(path: string): Promise<void> {
  const env = goEnvironment(process.env, '0');
  try {
    await run('nice', ['go', 'build', '-trimpath', '-o', path, '.'], { cwd: SOURCES, env });
  } catch (error) {
    if (!(error instanceof RunError)) throw error;
    throw new OracleError(
      'SLW_ORACLE_BUILD_FAILED',
      `cannot build the Ignition oracle in ${SOURCES} with \`go build\`: ${error.said.slice(-2000)}. It needs Go 1.25 or newer and the Go module proxy`,
      { cause: error },
    );
  }
}
