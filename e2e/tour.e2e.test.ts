import { mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type RunningProcess, startProgram } from '@slipway/testing/slipway-process';
import { until } from '@slipway/testing/wait';
import { resolveBinaries } from '@slipway/tools/controlplane';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { isSameOutput, readTour, type TourStep } from './tour/readme-tour.ts';
import { runInShell } from './tour/shell.ts';

const ROOT = resolve(import.meta.dirname, '..');
/** A rollout passes through what the page shows; on a loaded machine it takes its time. */
const WITHIN_MS = 120_000;

let directory: string;
let running: RunningProcess;
let steps: { start: TourStep[]; tour: TourStep[] };

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'slipway-tour-'));
  await mkdir(join(directory, 'bin'));
  await symlink((await resolveBinaries(['kubectl'])).kubectl, join(directory, 'bin/kubectl'));
  const page = await readFile(join(ROOT, 'README.md'), 'utf8');
  steps = { start: readTour(page, 'Two commands'), tour: readTour(page, 'A first tour') };
  // What `npm start` runs.
  running = startProgram(join(ROOT, 'packages/slipway/src/main.ts'), ['start', '--data-dir', join(directory, 'data')]);
  await running.saw(/Ctrl-C stops everything/);
});

afterAll(async () => {
  await running.stop('SIGINT');
  await rm(directory, { recursive: true });
});

it('npm start prints what the README shows', () => {
  const [start] = steps.start;
  expect(start?.command).toBe('npm start');
  expect(start?.output.length).toBeGreaterThan(5);
  expect(`${running.err()}${running.out()}`).toSatisfy((output: string) => isSameOutput(start?.output ?? [], output));
});

it('the tour of the README works as written, command by command', { timeout: 5 * WITHIN_MS }, async () => {
  const env = {
    ...process.env,
    PATH: `${join(directory, 'bin')}:${process.env['PATH']}`,
    KUBECONFIG: join(directory, 'data/admin.kubeconfig'),
  };
  const [first, ...commands] = steps.tour;
  // The data directory of a newcomer is the clone's own; here it is that of this test.
  expect(first).toEqual({ command: 'export KUBECONFIG=$PWD/.slipway/admin.kubeconfig', output: [] });
  expect(commands.length).toBeGreaterThan(4);
  for (const { command, output } of commands) {
    // Reading may be repeated until the rollout is where the page shows it; a change is made once.
    const isReading = /^\.\/slipway (status|why|history)\b/.test(command);
    const check = async (): Promise<void> => {
      const { text } = await runInShell(command, { cwd: ROOT, env });
      if (!isSameOutput(output, text))
        throw new Error(`$ ${command}\nthe README shows:\n${output.join('\n')}\n\nfound:\n${text}`);
    };
    await (isReading ? until(check, WITHIN_MS) : check());
  }
});
