import { spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];
const TOGETHER_MS = 500;

/**
 * Runs the entry, forwards signals and exits as it exits.
 *
 * Ctrl-C goes to the whole group, so the entry already has it, and npm sends it here once more; a `kill` of npm or of
 * this process arrives only here and must be forwarded. A shell in the same group distinguishes the two: it does not
 * survive the first. If this process is killed, the shell ends the entry.
 */
export function runEntry(node, entry, args) {
  const child = spawn(node, [entry, ...args], { stdio: 'inherit' });
  let guard = startGuard(child.pid);
  let busy = false;

  const passOn = async (signal) => {
    if (busy) return;
    busy = true;
    await delay(TOGETHER_MS / 5);
    if (isRunning(guard)) child.kill(signal);
    await delay(TOGETHER_MS);
    if (!isRunning(guard) && isRunning(child)) guard = startGuard(child.pid);
    busy = false;
  };
  for (const signal of SIGNALS) process.on(signal, passOn);
  const watch = watchNpm(() => passOn('SIGTERM'));

  child.on('error', (error) => {
    console.error(`set-up: cannot run ${node}: ${error.message}`);
    process.exit(1);
  });
  child.on('exit', (code, signal) => {
    clearInterval(watch);
    guard.stdin.end('done\n');
    for (const name of SIGNALS) process.off(name, passOn);
    if (signal === null) process.exitCode = code;
    else process.kill(process.pid, signal);
  });
}

function startGuard(pid) {
  const guard = spawn('/bin/sh', ['-c', 'read -r line || kill -TERM "$1"', 'slipway-guard', String(pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // Writing to a guard that the group's signal has ended is not an error.
  guard.stdin.on('error', () => {});
  return guard;
}

const isRunning = (child) => child.exitCode === null && child.signalCode === null;

/** A killed npm forwards nothing: the entry is stopped as if by a signal. */
function watchNpm(onGone) {
  if (process.env.npm_lifecycle_event === undefined) return undefined;
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    onGone();
  }, 1000);
  return watch;
}
