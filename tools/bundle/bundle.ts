import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type Plugin, rolldown } from 'rolldown';
import { onlyParts } from './parts.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const OWN_SOURCES = join(ROOT, 'packages/');

export interface BundleOptions {
  entry?: string;
  /** The output file; concurrent runs may share it. */
  directory?: string;
  /** Whole libraries instead of only the parts that a daemon uses. */
  whole?: boolean;
}

export interface Bundle {
  /** One JavaScript file that needs only Node. */
  path: string;
  bytes: number;
}

/**
 * Settings of the daemon for Node and the C library, also in the command `slipway`. Memory that an update of a large
 * config needs for a moment must be released: without the first three, 160 MB stayed resident after one.
 *
 * `--no-incremental-marking`: an incremental collection waits more than 50 ms for a task of the event loop, and nothing is
 * collected meanwhile, not even young objects. On an idle machine the daemon surveys a whole config in this time: the peak
 * was anywhere between 92 and 112 MB, and is 94 MB without. A collection in one go takes 10 to 30 ms, a few times per
 * update. The price is 5 MB at rest, because the engine no longer collects garbage while it is idle.
 *
 * The others disable optimizing compilers. A daemon computes little: the compilers, including the one for the
 * WebAssembly that parses HTTP, take 15 MB and save no measurable time. They must be set at process start; the engine
 * partly ignores later changes.
 */
export const daemonFlags: readonly string[] = [
  '--max-semi-space-size=1',
  '--max-old-space-size=64',
  '--optimize-for-size',
  '--no-incremental-marking',
  '--no-opt',
  '--no-maglev',
  '--no-sparkplug',
  '--liftoff-only',
];
export const daemonEnvironment = { MALLOC_ARENA_MAX: '1', MALLOC_TRIM_THRESHOLD_: '131072' } as const;

/**
 * Builds the program for nodes. Stripping the types of every source at every start, and importing whole packages for
 * one function, takes about 50 MB of RSS that a daemon never releases: 125 MB compared with 74 MB.
 *
 * It is rebuilt each time, in about a second, so it is never older than the sources.
 */
export async function bundleDaemon(options: BundleOptions = {}): Promise<Bundle> {
  const { entry = join(ROOT, 'packages/slipway/src/daemon-main.ts'), directory = join(ROOT, 'dist') } = options;
  const code = await bundle(entry, options.whole === true ? [] : [onlyParts(OWN_SOURCES)]);
  const path = join(directory, 'slipway-daemon.mjs');
  await mkdir(directory, { recursive: true });
  if ((await readFile(path, 'utf8').catch(() => undefined)) !== code) await replace(path, code);
  return { path, bytes: Buffer.byteLength(code) };
}

async function bundle(input: string, plugins: Plugin[]): Promise<string> {
  const build = await rolldown({
    input,
    platform: 'node',
    onLog: refuseUnresolved,
    // Slipway's modules have no side effects: unused exports are dropped, above all the schemas of the API.
    treeshake: { moduleSideEffects: (id) => !id.startsWith(OWN_SOURCES) },
    plugins,
  });
  try {
    // Names are preserved, for stacks in logs.
    const minify = { compress: true, mangle: false, codegen: { removeWhitespace: true } };
    const { output } = await build.generate({ format: 'esm', codeSplitting: false, minify });
    return inAscii(output[0].code);
  } finally {
    await build.close();
  }
}

/** A warning by default, but an import that is missing here is missing at run time too. */
export function refuseUnresolved(_level: string, { code, message }: { code?: string; message: string }): void {
  if (code === 'UNRESOLVED_IMPORT') throw new Error(message);
}

/** The engine keeps the source text while the program runs: with two bytes per character if a single one needs them. */
export function inAscii(code: string): string {
  return code.replaceAll(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Readers of the path see a complete file, of this run or of another. */
async function replace(path: string, code: string): Promise<void> {
  const temporary = `${path}.${randomUUID()}`;
  try {
    await writeFile(temporary, code);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
