// A machine that is a directory of this disk, and daemons on it that are killed (SIGKILL) in its update.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
