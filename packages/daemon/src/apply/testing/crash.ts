// An update that is disturbed at one call, and the resulting machine.
import type { FileSystem } from '../../host/file-system.ts';
import type { Call } from '../../host/testing/calls.ts';
import { copyImage } from '../../host/testing/disk-image.ts';
import { createFaultyDisk, type Fault } from '../../host/testing/faults.ts';
import { createMemoryDisk } from '../../host/testing/memory-disk.ts';
import { recoverToEnd, updateToEnd } from './sample-machine.ts';
import { judge, judgeAtOnce, judgeEnd, type Sample, type Verdict } from './sample.ts';

export interface Disturbance {
  /** Human-readable: `stops`. */
  readonly name: string;
  readonly of: 'changes' | 'looks';
  readonly fault: Fault;
  /** The next daemons are stopped too: this many times, each after this many changes. */
  readonly again?: { readonly times: number; readonly changes: (at: number) => number };
}

export const disturbances: readonly Disturbance[] = [
  { name: 'stops', of: 'changes', fault: { kind: 'stop', when: 'before' } },
  { name: 'stops half way in a write', of: 'changes', fault: { kind: 'stop', when: 'half way' } },
  { name: 'ENOSPC', of: 'changes', fault: { kind: 'error', code: 'ENOSPC' } },
  { name: 'EIO', of: 'changes', fault: { kind: 'error', code: 'EIO' } },
  { name: 'EIO in looking', of: 'looks', fault: { kind: 'error', code: 'EIO' } },
  { name: 'read-only from there on', of: 'changes', fault: { kind: 'from there on', code: 'EROFS' } },
  { name: 'full from there on', of: 'changes', fault: { kind: 'from there on', code: 'ENOSPC' } },
];

export const stopAndStopAgain: readonly Disturbance[] = [
  {
    name: 'stops, and one in the recovery',
    of: 'changes',
    fault: { kind: 'stop', when: 'after' },
    again: { times: 1, changes: (at) => (at * 7) % 97 },
  },
  {
    name: 'stops, and five in the recovery',
    of: 'changes',
    fault: { kind: 'stop', when: 'before' },
    again: { times: 5, changes: (at) => 1 + ((at * 5) % 31) },
  },
];

export interface Tally {
  readonly name: string;
  /** Calls at which the update was disturbed. */
  tried: number;
  old: number;
  new: number;
  /**
   * The disk refused the rollback as well: the result reported it, and the update continued once the disk worked again.
   */
  stuck: number;
  readonly problems: string[];
}

export interface Thoroughness {
  /** If the machine ends at the old config, the update is retried: after one of this many. */
  readonly tryAgainAfterOneOf: number;
  /** Only every n-th call, from `first` on. */
  readonly every?: { readonly first: number; readonly step: number };
}

/** At every call, from the first to the last, unless `every` is set. */
export async function disturbEverywhere(
  sample: Sample,
  disturbance: Disturbance,
  thoroughness: Thoroughness,
): Promise<Tally> {
  const tally: Tally = { name: disturbance.name, tried: 0, old: 0, new: 0, stuck: 0, problems: [] };
  const { first, step } = thoroughness.every ?? { first: 0, step: 1 };
  for (let at = first; await disturbAt(sample, disturbance, at, tally, thoroughness); at += step);
  return tally;
}

/** One human-readable line. */
export function describeTally({ name, tried, old, new: next, stuck, problems }: Tally): string {
  const ends = `${old} exactly old, ${next} exactly new, ${tried - old - next} a mix`;
  const later = stuck === 0 ? '' : `; ${stuck} were reported as stuck, and continued with a working disk`;
  return `${tried} ${name}: ${ends}${later}${problems.length === 0 ? '' : `; ${problems.length} problems`}`;
}

/** False: the update has no such call. */
async function disturbAt(
  sample: Sample,
  disturbance: Disturbance,
  at: number,
  tally: Tally,
  { tryAgainAfterOneOf }: Thoroughness,
): Promise<boolean> {
  const disk = createMemoryDisk(copyImage(sample.image));
  const faulty = createFaultyDisk(disk, { at, ...disturbance });
  try {
    const result = await Promise.race([updateToEnd(faulty.files, sample.update), faulty.stopped]);
    if (faulty.hit() === undefined) return false;
    tally.tried += 1;
    if (result?.outcome === 'stuck') tally.stuck += 1;
    else if (result !== undefined) recordProblems(await judgeAtOnce(disk, sample, result), 'at once');
    await stopAgain(disk, sample, disturbance, at);
    await recover(disk);
  } catch (error) {
    recordProblems({ at: 'a mix', problems: [String(error instanceof Error ? error.stack : error)] }, 'thrown');
  }
  return true;

  /** The disk works again, and the daemon starts. */
  async function recover(files: FileSystem): Promise<void> {
    const { update } = sample;
    const verdict = await judge(files, sample, await recoverToEnd(files, update));
    recordProblems(verdict, 'after recovery');
    if (verdict.at !== 'a mix') tally[verdict.at] += 1;
    if (verdict.at !== 'old' || tally.tried % tryAgainAfterOneOf !== 0) return;
    recordProblems(await judgeEnd(files, sample, await updateToEnd(files, update)), 'tried again');
  }
  function recordProblems({ problems }: Verdict, when: string): void {
    const where = `${sample.update.name}, ${disturbance.name}, call ${at}: ${describeCall(faulty.hit())}, ${when}`;
    tally.problems.push(...problems.map((problem) => `${where}: ${problem}`));
  }
}

async function stopAgain(disk: FileSystem, { update }: Sample, { again }: Disturbance, at: number): Promise<void> {
  for (let time = 0; time < (again?.times ?? 0); time += 1) {
    const stop = {
      at: again?.changes(at) ?? 0,
      of: 'changes' as const,
      fault: { kind: 'stop', when: 'before' } as const,
    };
    const faulty = createFaultyDisk(disk, stop);
    await Promise.race([recoverToEnd(faulty.files, update), faulty.stopped]);
  }
}

function describeCall(call: Call | undefined): string {
  return call === undefined ? 'none' : `${call.operation} ${call.path}`;
}
