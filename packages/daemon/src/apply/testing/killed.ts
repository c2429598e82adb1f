// A machine in a directory of this disk, and daemons that are killed (SIGKILL) during its update.
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
  /** The duration of an undisturbed update. */
  readonly milliseconds: number;
  /** How often it changes the disk. */
  readonly changes: number;
  /** Runs the update in a process that is killed after this time or at this call, then recovers in a new process. */
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
    // Preserves owners, which Node's copy does not.
    execFileSync('cp', ['-a', fresh, root]);
  };
  // Bundled: it starts some fifty times, and resolving its modules would take longer than the update.
  const entry = join(import.meta.dirname, 'update-child.ts');
  const { path: program } = await bundleDaemon({ entry, directory, whole: true });
  const start = () => startChild(program, root, name);
  const update = await sampleUpdate(name);
  mkdirSync(fresh);
  await makeSampleMachine(createDisk({ root: fresh }), update);
  const old = await takeSnapshot(createDisk({ root: fresh }));
  reset();

  // Processes start slowly, so the next one starts while this one works. It touches nothing until it gets a command.
  let [child, next] = [start(), start()];
  const undisturbed = await child.run('update');
  if (undisturbed?.result.outcome !== update.endsAt) throw new Error(`undisturbed: ${JSON.stringify(undisturbed)}`);
  const end = update.endsAt === 'new' ? await takeSnapshot(createDisk({ root })) : null;
  const ends: Ends = { update, old, next: end };

  return {
    milliseconds: undisturbed.milliseconds,
    changes: undisturbed.changes,
    async kill(moment) {
      reset();
      const ended =
        'atCall' in moment ? await child.run(`update ${moment.atCall}`) : await child.run('update', moment.afterMs);
      if (ended === null) [child, next] = [next, start()];
      const recovered = await child.run('recover');
      if (recovered === null) throw new Error('the recovering daemon was killed');
      return { ...(await judge(createDisk({ root }), ends, recovered.result)), wasKilled: ended === null };
    },
    async remove() {
      await Promise.all([child.end(), next.end()]);
      rmSync(directory, { recursive: true });
    },
  };
}

/**
 * Real signals at moments that a seed determines: the machine ends exactly at the old or the new config. Only the last
 * changes lead to the new one, which few moments hit: both ends are reached by a kill at the first and at the last.
 */
export async function expectExactAfterKills(machine: KilledMachine, kills: number, seed: number): Promise<void> {
  const ends = { old: 0, new: 0, 'a mix': 0 };
  const problems: string[] = [];
  const delays: number[] = [];
  const random = createRandom(seed);
  let killed = 0;
  let horizonMs = machine.milliseconds;
  for (let tried = 0; killed < kills && tried < 4 * kills; tried += 1) {
    // Spread over the whole update.
    const afterMs = Math.round((((tried % kills) + random.next()) / kills) * horizonMs);
    const verdict = await machine.kill({ afterMs });
    delays.push(afterMs);
    ends[verdict.at] += 1;
    problems.push(...verdict.problems.map((problem) => `killed after ${afterMs} ms: ${problem}`));
    if (verdict.wasKilled) killed += 1;
    // The update had ended: the measured first run is slower than the others.
    else horizonMs *= 0.9;
  }
  console.log(
    `${killed} daemons killed in an update of ${machine.milliseconds.toFixed(0)} ms, seed ${seed}, after ${delays.join(', ')} ms: ` +
      `${ends.old} exactly old, ${ends.new} exactly new, ${ends['a mix']} a mix`,
  );
  expect(problems).toEqual([]);
  expect(killed).toBe(kills);
  expect(await machine.kill({ atCall: 0 })).toMatchObject({ at: 'old', wasKilled: true });
  expect(await machine.kill({ atCall: machine.changes - 1 })).toMatchObject({ at: 'new', wasKilled: true });
}
