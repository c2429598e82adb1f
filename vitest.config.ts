import { defineConfig } from 'vitest/config';

// Three kinds of test, told apart by their file names:
//   x.test.ts       unit: no control plane, no network
//   x.e2e.test.ts   on the real control plane; part of `npm test`
//   x.slow.test.ts  long matrices and what needs kube-controller-manager; `npm run test:slow`
const tests = (suffix: string) => ['packages', 'tools', 'e2e', 'bench'].map((dir) => `${dir}/**/*${suffix}`);
const ignored = ['**/node_modules/**'];
const alone = 'e2e/watch-torture.e2e.test.ts';

export default defineConfig({
  test: {
    reporters: ['default', './tools/test-summary.ts'],
    projects: [
      {
        test: {
          name: 'unit',
          // On all cores, and before the rest: what runs on real components measures times and has the machine to itself.
          maxWorkers: '100%',
          sequence: { groupOrder: 0 },
          include: tests('.test.ts'),
          exclude: [...ignored, '**/*.e2e.test.ts', '**/*.slow.test.ts'],
        },
      },
      {
        test: {
          name: 'e2e',
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
          include: tests('.e2e.test.ts'),
          exclude: [...ignored, alone],
          globalSetup: './e2e/control-plane.ts',
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          // It starves beside others.
          name: 'alone',
          maxWorkers: 1,
          sequence: { groupOrder: 2 },
          include: [alone],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'slow',
          maxWorkers: 1,
          sequence: { groupOrder: 3 },
          include: tests('.slow.test.ts'),
          exclude: ignored,
          globalSetup: './e2e/control-plane.ts',
          testTimeout: 600_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
