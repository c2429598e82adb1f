import type { Reporter, TestCase, TestModule, TestSuite, Vitest } from 'vitest/node';
import { recordTestRun } from './house/test-run.ts';

/** The result of a run, for the last line. */
export interface Tally {
  passed: number;
  failed: number;
  /** A line for each test that failed. */
  failures: string[];
  skipped: string[];
}

/** `3 passed, 0 failed`, and the skipped ones only if there are any. */
export function summaryLine({ passed, failed, skipped }: Omit<Tally, 'failures'>): string {
  const line = `${passed} passed, ${failed} failed`;
  return skipped.length > 0 ? `${line}, ${skipped.length} skipped` : line;
}

/** Ends a run with one line for humans and programs. If CI is set, a skipped test fails the run. */
export default class TestSummary implements Reporter {
  #vitest: Vitest | undefined;

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  async onTestRunEnd(
    modules: readonly TestModule[],
    unhandledErrors: readonly unknown[],
    reason: string,
  ): Promise<void> {
    const tally: Tally = { passed: 0, failed: unhandledErrors.length, failures: [], skipped: [] };
    for (const module of modules) count(module, tally);
    // A run can also fail as a whole, for instance if no control plane could be started.
    if (reason === 'failed' && tally.failed === 0) tally.failed = 1;
    if (refusesSkipped(process.env) && tally.skipped.length > 0) {
      process.exitCode = 1;
      console.log(['no test may be skipped if CI is set:', ...tally.skipped.map((line) => `  ${line}`)].join('\n'));
    }
    for (const line of tally.failures) console.log(`failed: ${line}`);
    console.log(summaryLine(tally));
    const vitest = this.#vitest;
    if (vitest === undefined || tally.failed > 0 || !(await isWhole(modules, vitest))) return;
    // From the start of the process: includes the preparation before the first test.
    recordTestRun(vitest.config.root, { startedAt: performance.timeOrigin, now: Date.now(), passed: tally.passed });
  }
}

/** Whether these are all files of `npm test`, and all their tests. */
async function isWhole(modules: readonly TestModule[], { projects, config }: Vitest): Promise<boolean> {
  if (config.testNamePattern !== undefined || !config.project.includes('small')) return false;
  const files = await Promise.all(projects.map((project) => project.globTestFiles()));
  return modules.length === files.reduce((sum, { testFiles }) => sum + testFiles.length, 0);
}

function refusesSkipped(env: NodeJS.ProcessEnv): boolean {
  return !['', '0', 'false'].includes(env['CI'] ?? '');
}

function count(group: TestModule | TestSuite, tally: Tally): void {
  // A file that cannot be loaded, a hook that throws: a failure outside of any test.
  const errors = group.errors();
  tally.failed += errors.length;
  if (errors.length > 0) tally.failures.push(`${formatName(group)}: ${firstLine(errors)}`);
  for (const child of group.children) {
    if (child.type === 'test') countTest(child, tally);
    else count(child, tally);
  }
}

function countTest(test: TestCase, tally: Tally): void {
  const result = test.result();
  if (result.state === 'passed') tally.passed += 1;
  else if (result.state === 'failed') {
    tally.failed += 1;
    tally.failures.push(`${formatName(test)}: ${firstLine(result.errors)}`);
  } else {
    const why = result.state === 'skipped' ? result.note : 'it did not finish';
    tally.skipped.push(`${formatName(test)}: ${why ?? 'no reason given'}`);
  }
}

const formatName = (part: TestModule | TestSuite | TestCase): string =>
  part.type === 'module' ? part.relativeModuleId : `${part.module.relativeModuleId} > ${part.fullName}`;

const firstLine = (errors: readonly { message: string }[]): string => errors[0]?.message.split('\n')[0] ?? '';
