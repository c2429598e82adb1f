import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Reporter, TestModule, Vitest } from 'vitest/node';

/** Seconds by test file, from the root. Files below a second are omitted: their order makes no difference. */
export type Durations = Readonly<Record<string, number>>;

const FILE = join(import.meta.dirname, 'test-durations.json');

export function readDurations(): Durations {
  return JSON.parse(readFileSync(FILE, 'utf8')) as Durations;
}

/** Merges the durations of a run into the recorded ones; files that are gone are dropped. */
export function mergeDurations(
  before: Durations,
  ran: readonly (readonly [path: string, ms: number])[],
  exists: (path: string) => boolean,
): Durations {
  const now = new Map<string, number>();
  // A file may run in two projects.
  for (const [path, ms] of ran) now.set(path, Math.max(now.get(path) ?? 0, Math.round(ms / 1000)));
  const all = Object.entries({ ...before, ...Object.fromEntries(now) });
  return Object.fromEntries(
    all.filter(([path, seconds]) => seconds > 0 && exists(path)).toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );
}

/** `npm run test:durations`: records the duration of each file, for the order in which later runs start them. */
export default class RecordDurations implements Reporter {
  #root = '';

  onInit(vitest: Vitest): void {
    this.#root = vitest.config.root;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const ran = modules.map((module): [string, number] => {
      const { collectDuration, duration } = module.diagnostic();
      return [module.relativeModuleId, collectDuration + duration];
    });
    const merged = mergeDurations(readDurations(), ran, (path) => existsSync(join(this.#root, path)));
    writeFileSync(FILE, `${JSON.stringify(merged, null, 2)}\n`);
    console.log(`${FILE}: ${Object.keys(merged).length} files of a second or more`);
  }
}
