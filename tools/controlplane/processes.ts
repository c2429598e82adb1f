import { readFile, readdir } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { run } from '../run.ts';

/**
 * The processes that were started with exactly one of these arguments. Checking what runs now, instead of trusting a
 * list of pids written earlier, means that a reused pid is never touched.
 */
export async function findByArgument(wanted: ReadonlySet<string>): Promise<number[]> {
  const all = process.platform === 'linux' ? await fromProc() : await fromPs();
  return all
    .filter(({ pid, args }) => pid !== process.pid && args.some((arg) => wanted.has(arg)))
    .map(({ pid }) => pid);
}

/** SIGTERM, then SIGKILL after the grace period, to every process found; returns when they are gone. */
export async function endByArgument(wanted: ReadonlySet<string>, graceMs: number): Promise<void> {
  const killAt = Date.now() + graceMs;
  let left = await findByArgument(wanted);
  signalAll(left, 'SIGTERM');
  while (left.length > 0) {
    if (Date.now() >= killAt) signalAll(left, 'SIGKILL');
    await delay(20);
    const gone = await Promise.all(left.map(isGone));
    left = left.filter((_, index) => gone[index] !== true);
  }
}

function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      // It ended between the check and the signal.
    }
  }
}

/** A process that is exiting has no command line while it still holds its ports: only its state shows that. */
async function isGone(pid: number): Promise<boolean> {
  if (process.platform === 'linux') {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
    // A zombie holds nothing; if init does not reap it, it may stay forever.
    return stat === '' || /\) [ZX] /.test(stat);
  }
  try {
    process.kill(pid, 0);
    return false;
  } catch {
    return true;
  }
}

interface Running {
  pid: number;
  args: string[];
}

async function fromProc(): Promise<Running[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  return Promise.all(
    pids.map(async (pid) => ({
      pid: Number(pid),
      // A process that has just ended, or is a zombie, has no command line.
      args: (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0'),
    })),
  );
}

async function fromPs(): Promise<Running[]> {
  const printed = await run('ps', ['-axww', '-o', 'pid=,command=']);
  return printed.split('\n').map(parsePsLine);
}

/** ps joins arguments with spaces; the flag that starts each argument identifies a path with spaces. */
export function parsePsLine(line: string): Running {
  const [, pid = '0', command = ''] = /^\s*(\d+)\s+(.*)$/.exec(line) ?? [];
  return { pid: Number(pid), args: command.split(/ (?=--)/) };
}
