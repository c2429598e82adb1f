import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

// Runs all checks, even after a failure: one run shows everything.
const checks = [
  { name: 'types', command: ['tsc', '-p', 'tsconfig.json'] },
  { name: 'lint', command: ['oxlint', '--deny-warnings'] },
  { name: 'format', command: ['oxfmt', '--check'] },
  { name: 'dead code and unused dependencies', command: ['knip'] },
  { name: 'limits of the house', command: ['node', 'tools/measure.ts', '--check'] },
  { name: 'words', command: ['node', 'tools/words/check-words.ts'] },
];

const root = fileURLToPath(new URL('..', import.meta.url));
const failed: string[] = [];
for (const { name, command } of checks) {
  const started = Date.now();
  const [program = '', ...args] = command;
  const { status } = spawnSync(`node_modules/.bin/${program}`, args, { cwd: root, stdio: 'inherit' });
  const seconds = ((Date.now() - started) / 1000).toFixed(1);
  console.log(`${status === 0 ? 'ok' : 'FAILED'}: ${name} (${program}, ${seconds} s)`);
  if (status !== 0) failed.push(name);
}
if (failed.length > 0) {
  console.error(`not clean: ${failed.join('; ')}`);
  process.exitCode = 1;
}
