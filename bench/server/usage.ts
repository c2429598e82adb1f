import { readFile } from 'node:fs/promises';

const TICKS_PER_SECOND = 100;

/** CPU milliseconds used by these processes so far, in user and system mode. */
export async function cpuMs(pids: readonly number[]): Promise<number> {
  const each = await Promise.all(pids.map(readCpuMs));
  return each.reduce((sum, ms) => sum + ms, 0);
}

async function readCpuMs(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  // The second field is the name in brackets and may contain anything.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_PER_SECOND;
}

/** Peak resident memory of these processes, in megabytes. */
export async function peakMegabytes(pids: readonly number[]): Promise<number> {
  const each = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/status`, 'utf8')));
  return each.reduce((sum, status) => sum + (Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024) / 1e6, 0);
}
