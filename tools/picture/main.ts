// npm run picture: docs/rollout.svg, drawn from a real rollout of the simulated fleet. Linux, for `script` gives the command a
// terminal.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { resolveBinaries } from '../controlplane/index.ts';
import { drawTerminal } from './terminal-svg.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const COMMAND = './slipway status worker';
const WITHIN_MS = 120_000;

const directory = await mkdtemp(join(tmpdir(), 'slipway-picture-'));
const env = { ...process.env, KUBECONFIG: join(directory, 'data/admin.kubeconfig'), TERM: 'xterm-256color', CI: '' };
const { kubectl } = await resolveBinaries(['kubectl']);
const start = spawn(join(ROOT, 'slipway'), ['start', '--data-dir', join(directory, 'data')], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
try {
  await new Promise<void>((ready) => {
    start.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (text.includes('Ctrl-C stops')) ready();
    });
  });
  await promisify(execFile)(kubectl, ['apply', '-f', 'docs/examples/99-worker-motd.yaml'], { cwd: ROOT, env });
  const shown = await captureRollout();
  await writeFile(join(ROOT, 'docs/rollout.svg'), drawTerminal(COMMAND, `$ ${COMMAND}\n${shown}`));
} finally {
  start.kill('SIGINT');
  await once(start, 'close');
  await rm(directory, { recursive: true });
}

/** The first look at it with one machine done and one under way. */
async function captureRollout(): Promise<string> {
  const giveUpAt = performance.now() + WITHIN_MS;
  while (performance.now() < giveUpAt) {
    const { stdout } = await promisify(execFile)('script', ['-qec', `stty cols 100; ${COMMAND}`, '/dev/null'], {
      cwd: ROOT,
      env,
    });
    if (/\b1 of 3\b/.test(stdout) && /worker-1/.test(stdout)) return stdout.replaceAll('\r', '');
    await wait(300);
  }
  throw new Error('the rollout never had one machine done and another under way');
}
