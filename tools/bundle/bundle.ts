import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type Plugin, rolldown } from 'rolldown';
import { onlyParts } from './parts.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const OWN_SOURCES = join(ROOT, 'packages/');

export interface BundleOptions {
  entry?: string;
  /** Where the file goes; runs at the same time may share it. */
  directory?: string;
  /** Libraries whole, and not only the parts that a daemon has use for. */
  whole?: boolean;
}

export interface Bundle {
  /** One file of JavaScript that needs Node and nothing else. */
  path: string;
  bytes: number;
}

/**
 * For Node and the C library, where they run the daemon. What an update of a large config needs for a moment is to be given
 * back: without the first three 160 MB stayed resident after one.
 *
 * The others switch optimizing compilers off. A daemon computes little, and seldom: those, also the one for the WebAssembly
 * that parses HTTP, cost it 15 MB for themselves and what they keep, and save no time that can be measured. They count from
 * the start of the process; what is set later the engine partly ignores.
 */
export const daemonFlags: readonly string[] = [
  '--max-semi-space-size=1',
  '--max-old-space-size=64',
  '--optimize-for-size',
  '--no-opt',
  '--no-maglev',
  '--no-sparkplug',
  '--liftoff-only',
];
export const daemonEnvironment = { MALLOC_ARENA_MAX: '1', MALLOC_TRIM_THRESHOLD_: '131072' } as const;

/**
 * What a node runs. To strip the types of every source at every start, and to import whole packages for one function,
 * costs a daemon about 50 MB of RSS that it never gives back: 125 MB against 74 MB when this was measured.
 *
 * It is made anew each time, in about a second: so it is never older than the sources.
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
    // Modules of ours only define things: what nobody uses of them is left out, above all the schemas of the API.
    treeshake: { moduleSideEffects: (id) => !id.startsWith(OWN_SOURCES) },
    plugins,
  });
  try {
    // Names stay as they are, for stacks in logs.
    const minify = { compress: true, mangle: false, codegen: { removeWhitespace: true } };
    const { output } = await build.generate({ format: 'esm', codeSplitting: false, minify });
    return inAscii(output[0].code);
  } finally {
    await build.close();
  }
}

/** A warning by default: but what is not found here is not found where it runs either. */
export function refuseUnresolved(_level: string, { code, message }: { code?: string; message: string }): void {
  if (code === 'UNRESOLVED_IMPORT') throw new Error(message);
}

/** The engine keeps the text for as long as the program runs: with two bytes a character if a single one needs them. */
export function inAscii(code: string): string {
  return code.replaceAll(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Whoever opens the path sees a whole file, of this run or of another. */
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
