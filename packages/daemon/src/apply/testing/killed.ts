// A daemon in a process of its own that is killed (SIGKILL) in its update, on a machine that is a directory of this disk.
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDisk } from '../../host/disk.ts';
import type { UpdateResult } from '../updater.ts';
import { makeSampleMachine } from './sample-machine.ts';
import { type Ends, judge, type Verdict } from './sample.ts';
import { sampleUpdate, type SampleName } from './sample-update.ts';
import { takeSnapshot } from './snapshot.ts';

const CHILD = join(import.meta.dirname, 'update-child.ts');

export interface KilledMachine {
  /** Of an update that nobody disturbs. */
  readonly milliseconds: number;
  /** The update in a process that is killed so long after it began, or at a call; then what a new process makes of it. */
  kill(moment: { readonly afterMs: number } | { readonly atCall: number }): Promise<Killed>;
  remove(): void;
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
    cpSync(fresh, root, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
  };
  const update = await sampleUpdate(name);
  mkdirSync(fresh);
  await makeSampleMachine(createDisk({ root: fresh }), update);
  const old = await takeSnapshot(createDisk({ root: fresh }));
  reset();
  const undisturbed = await runChild([root, name, 'update'], null);
  if (undisturbed?.result.outcome !== update.endsAt) throw new Error(`undisturbed: ${JSON.stringify(undisturbed)}`);
  const next = update.endsAt === 'new' ? await takeSnapshot(createDisk({ root })) : null;
  const ends: Ends = { update, old, next };
  return {
    milliseconds: undisturbed.milliseconds,
    async kill(moment) {
      reset();
      const [call, afterMs] = 'atCall' in moment ? [[String(moment.atCall)], null] : [[], moment.afterMs];
      const ended = await runChild([root, name, 'update', ...call], afterMs);
      const recovered = await runChild([root, name, 'recover'], null);
      if (recovered === null) throw new Error('the daemon that recovers ended without a word');
      const verdict = await judge(createDisk({ root }), ends, recovered.result);
      return { ...verdict, wasKilled: ended === null };
    },
    remove: () => rmSync(directory, { recursive: true }),
  };
}

interface Ended {
  readonly result: UpdateResult;
  readonly milliseconds: number;
}

/** Null: it was killed. */
async function runChild(args: readonly string[], killAfterMs: number | null): Promise<Ended | null> {
  const child = spawn(process.execPath, [CHILD, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  let timer: NodeJS.Timeout | undefined;
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    text += part;
    if (killAfterMs !== null) timer ??= setTimeout(() => child.kill('SIGKILL'), killAfterMs);
  });
  const { promise, resolve, reject } = Promise.withResolvers<NodeJS.Signals | null>();
  child.on('error', reject).on('close', (_, signal) => resolve(signal));
  const signal = await promise;
  clearTimeout(timer);
  const [, line = ''] = text.split('\n');
  if (signal !== 'SIGKILL' && line === '') throw new Error(`the daemon ended without a word: ${text}`);
  return signal === 'SIGKILL' ? null : (JSON.parse(line) as Ended);
}
