import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { type Durations, readDurations } from './test-durations.ts';

/**
 * Starts the longest files of each project first, by recorded times: started last, one of them would run on while the
 * other cores wait. Vitest's own cache is per machine, and a new clone has none.
 */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const root = this.ctx.config.root;
    const durations = readDurations();
    return Object.values(Object.groupBy(sorted, ({ project }) => project.name)).flatMap((group = []) =>
      sortByDuration(group, ({ moduleId }) => relative(root, moduleId), durations),
    );
  }
}

/** Longest first; files without a record follow in their original order. */
export function sortByDuration<T>(files: readonly T[], pathOf: (file: T) => string, durations: Durations): T[] {
  const findSeconds = (file: T): number => durations[pathOf(file)] ?? 0;
  return files.toSorted((a, b) => findSeconds(b) - findSeconds(a));
}
