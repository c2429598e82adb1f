import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { type Durations, readDurations } from './test-durations.ts';

/**
 * Starts the longest files of each project first, by recorded times: begun last, one of them would run on while the other cores
 * wait. What Vitest remembers itself is of one machine, and a fresh clone has none of it.
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

/** Longest first; what is not recorded stays in the order in which it came, after what is. */
export function sortByDuration<T>(files: readonly T[], pathOf: (file: T) => string, durations: Durations): T[] {
  const findSeconds = (file: T): number => durations[pathOf(file)] ?? 0;
  return files.toSorted((a, b) => findSeconds(b) - findSeconds(a));
}
