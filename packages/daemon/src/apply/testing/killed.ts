// A machine that is a directory of this disk, and daemons on it that are killed (SIGKILL) in its update.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRandom } from '@slipway/testing/random';
import { expect } from 'vitest';
import { bundleDaemon } from '@slipway/tools/bundle';
import { createDisk } from '../../host/disk.ts';
import { startChild } from './child.ts';
import { makeSampleMachine } from './sample-machine.ts';
import { type Ends, judge, type Verdict } from './sample.ts';
import { sampleUpdate, type SampleName } from './sample-update.ts';
import { takeSnapshot } from './snapshot.ts';

export interface KilledMachine {
  /** Of an update that nobody disturbs. */
  readonly milliseconds: number;
  /** The update in a process that is killed so long after it began, or at a call; then what a new process makes of it. */
  kill(moment: { readonly afterMs: number } | { readonly atCall: number }): Promise<Killed>;
  remove(): Promise<void>;
}

export interface Killed extends Verdict {
  /** False: the update had ended before. */
  readonly wasKilled: boolean;
}

export async function makeKilledMachine(name: SampleName): Promise<KilledMachine> {
  const directory = mkdtempSync(join(tmpdir(), 'slipway-killed-'));
  const [fresh, root] = [join(directory, 'fresh'), join(directory, 'machine')];
  const reset = () => {
    rmSync(root, { recursive: true, force: true });
    // With owners, which Node's own copy does not keep.
    execFileSync('cp', ['-a', fresh, root]);
  };
  // In one file: it starts some fifty times, and to find its modules takes it longer than the update.
  const entry = join(import.meta.dirname, 'update-child.ts');
  const { path: program } = await bundleDaemon({ entry, directory, whole: true });
  const start = () => startChild(program, root, name);
  const update = await sampleUpdate(name);
  mkdirSync(fresh);
  await makeSampleMachine(createDisk({ root: fresh }), update);
  const old = await takeSnapshot(createDisk({ root: fresh }));
  reset();

  // A process takes a while to start: the next one does while this one works. It looks at nothing until it is told to.
  let [child, next] = [start(), start()];
  const undisturbed = await child.run('update');
  if (undisturbed?.result.outcome !== update.endsAt) throw new Error(`undisturbed: ${JSON.stringify(undisturbed)}`);
  const end = update.endsAt === 'new' ? await takeSnapshot(createDisk({ root })) : null;
  const ends: Ends = { update, old, next: end };

  return {
    milliseconds: undisturbed.milliseconds,
    async kill(moment) {
      reset();
      const ended =
        'atCall' in moment ? await child.run(`update ${moment.atCall}`) : await child.run('update', moment.afterMs);
      if (ended === null) [child, next] = [next, start()];
      const recovered = await child.run('recover');
      if (recovered === null) throw new Error('the daemon that recovers was killed');
      return { ...(await judge(createDisk({ root }), ends, recovered.result)), wasKilled: ended === null };
    },
    async remove() {
      await Promise.all([child.end(), next.end()]);
      rmSync(directory, { recursive: true });
    },
  };
}

/** Real signals, at moments of the update that a seed decides: the machine ends exactly old or exactly new, some each way. */
export async function expectExactAfterKills(machine: KilledMachine, kills: number, seed: number): Promise<void> {
  const ends = { old: 0, new: 0, 'a mix': 0 };
  const problems: string[] = [];
  const delays: number[] = [];
  const random = createRandom(seed);
  let killed = 0;
  let horizonMs = machine.milliseconds;
  for (let tried = 0; killed < kills && tried < 4 * kills; tried += 1) {
    // Spread over the whole of it.
    const afterMs = Math.round((((tried % kills) + random.next()) / kills) * horizonMs);
    const verdict = await machine.kill({ afterMs });
    delays.push(afterMs);
    ends[verdict.at] += 1;
    problems.push(...verdict.problems.map((problem) => `killed after ${afterMs} ms: ${problem}`));
    if (verdict.wasKilled) killed += 1;
    // The update was over: the first one, by which it was measured, is slower than the others.
    else horizonMs *= 0.9;
  }
  console.log(
    `${killed} daemons killed in an update of ${machine.milliseconds.toFixed(0)} ms, seed ${seed}, after ${delays.join(', ')} ms: ` +
      `${ends.old} exactly old, ${ends.new} exactly new, ${ends['a mix']} a mix`,
  );
  expect(problems).toEqual([]);
  expect(killed).toBe(kills);
  expect(Math.min(ends.old, ends.new)).toBeGreaterThan(0);
}
