import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import LongestFirst from './tools/test-order.ts';

// Four kinds of test, told apart by their file names:
//   x.test.ts          unit: no control plane, no network
//   x.e2e.test.ts      on the real control plane; part of `npm test`
//   x.cluster.test.ts  on whole machines, or with large programs (CRI-O, Ironic); `npm run test:cluster`
//   x.slow.test.ts     long matrices and what needs kube-controller-manager; `npm run test:slow`
const tests = (suffix: string) => ['packages', 'tools', 'e2e', 'bench'].map((dir) => `${dir}/**/*${suffix}`);

/** Files whose cases are sampled in `npm test`: `npm run test:slow` runs them with all cases. */
const sampled = globSync('{packages,e2e}/**/*.{test,e2e.test}.ts', { cwd: import.meta.dirname })
  .filter((file) => !file.includes('node_modules') && !file.endsWith('.slow.test.ts'))
  .filter((file) => /\bsample(Cases|Step)\(/.test(readFileSync(join(import.meta.dirname, file), 'utf8')));

const ignored = ['**/node_modules/**'];

// Files share a process: loading the same modules again for each of them took a third of the time. So a test leaves
// nothing behind in its process: no fake timers, environment variables, changed globals or open servers.
const isolate = false;

// They wait for processes most of the time: three of them leave a third of two cores idle, four a tenth.
const MAX_WORKERS = 4;

// A loaded machine takes its time; what works takes a moment.
const expect = { poll: { timeout: 10_000 } };

// Tests start hundreds of processes from the same sources: each is compiled once. Node checks what it finds there
// against the source.
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, 'node_modules/.cache/compiled');

export default defineConfig({
  test: {
    reporters: ['default', './tools/test-summary.ts'],
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          // What `npm test` runs. In one project, because files of two never share a process, and one runs before the other:
          // unit tests use the processors while those on real components wait.
          name: 'small',
          isolate,
          expect,
          maxWorkers: MAX_WORKERS,
          sequence: { groupOrder: 0 },
          include: tests('.test.ts'),
          exclude: [...ignored, '**/*.{cluster,slow}.test.ts'],
          globalSetup: './e2e/control-plane.ts',
          testTimeout: 60_000,
          // The first that asks for a control plane with Slipway installed makes it.
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: 'unit',
          isolate,
          expect,
          maxWorkers: '100%',
          sequence: { groupOrder: 5 },
          include: tests('.test.ts'),
          exclude: [...ignored, '**/*.{e2e,cluster,slow}.test.ts'],
          testTimeout: 30_000,
          hookTimeout: 30_000,
        },
      },
      {
        test: {
          name: 'e2e',
          isolate,
          expect,
          maxWorkers: MAX_WORKERS,
          sequence: { groupOrder: 1 },
          include: tests('.e2e.test.ts'),
          exclude: ignored,
          globalSetup: './e2e/control-plane.ts',
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: 'cluster',
          isolate,
          expect,
          maxWorkers: MAX_WORKERS,
          sequence: { groupOrder: 3 },
          // What a first boot promises is shown once more, with the client that takes minutes to build.
          include: [...tests('.cluster.test.ts'), 'e2e/first-boot*.e2e.test.ts'],
          exclude: ignored,
          globalSetup: './e2e/control-plane.ts',
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: 'slow',
          maxWorkers: 1,
          sequence: { groupOrder: 4 },
          include: [...tests('.slow.test.ts'), ...sampled],
          env: { SLIPWAY_SAMPLE: 'all' },
          exclude: ignored,
          globalSetup: './e2e/control-plane.ts',
          testTimeout: 600_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
