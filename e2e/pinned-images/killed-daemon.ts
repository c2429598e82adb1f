// A machine whose daemon is killed again and again: each time its set changes, and it dies one step later than the time before,
// until it comes through. What it leaves is judged, and so is what the next daemon makes of it.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { bundleDaemon } from '@slipway/tools/bundle';
import type { CrioFleet } from './crio-fleet.ts';
import type { CrioMachine } from './crio-machine.ts';

export interface KilledDaemon {
  /** The last one that it took. */
  readonly step: string;
  /** Of CRI-O, by it and by the next one, until the set was pinned. */
  readonly reloads: number;
  readonly problems: readonly string[];
}

const SET = 'changing';
const DROP_IN = '/etc/crio/crio.conf.d/50-pinned-images';
const MAX_STEPS = 40;

interface Child {
  readonly process: ChildProcess;
  /** What it did so far. */
  readonly steps: readonly string[];
  readonly ended: Promise<unknown>;
  /** Resolves with true when it knows; false: it has ended. */
  dieAt(step: number | string): Promise<boolean>;
}

/** What becomes of the set, and what the machine is to hold then. */
interface Change {
  readonly make: () => Promise<void>;
  readonly images: readonly string[];
  readonly holds: Readonly<Record<string, number>>;
}

/** In the order of the steps at which they were killed. */
export async function killAtEveryStep(fleet: CrioFleet, machine: CrioMachine, pool: string): Promise<KilledDaemon[]> {
  const directory = await mkdtemp(join(tmpdir(), 'slipway-killed-'));
  // It starts in a fraction of the time.
  const { path } = await bundleDaemon({ entry: join(import.meta.dirname, 'killed-child.ts'), directory });
  const killed: KilledDaemon[] = [];
  let child = startChild(path, machine);
  let generation = 1;
  // One image of each set stays, one is new, one goes.
  let images = [await fleet.push('stays'), await fleet.push('new-0')];

  const changeTo = (next: readonly string[]): Change => {
    generation += 1;
    return { make: () => fleet.changeSet(SET, next), images: next, holds: { [SET]: generation } };
  };

  /** False: it came through. */
  async function kill(at: number | string, change: Change): Promise<boolean> {
    // The one before may have come through and been killed at its very last step.
    while (!(await child.dieAt(at))) child = startChild(path, machine);
    await change.make();
    const isThrough = machine.holds(change.holds).then(() => true);
    const wasKilled = await Promise.race([child.ended.then(() => true), isThrough.then(() => false)]);
    if (wasKilled) {
      const left = await judge(machine, [images, change.images]);
      const before = child.steps.slice(child.steps.lastIndexOf('armed'));
      child = startChild(path, machine);
      await isThrough;
      killed.push(verdict(before, child.steps, [...left, ...(await judge(machine, [change.images]))]));
    }
    images = [...change.images];
    return wasKilled;
  }

  try {
    await fleet.makeSet(SET, pool, images);
    await machine.holds({ [SET]: 1 });
    let at = 1;
    while (await kill(at, changeTo([...images.slice(0, 1), await fleet.push(`new-${at}`)]))) {
      at += 1;
      if (at > MAX_STEPS) throw new Error(`not through after ${MAX_STEPS} steps`);
    }
    // That pins became fewer cannot be seen by what is missing in them.
    await kill(`put ${DROP_IN}`, changeTo(images.slice(0, 1)));
    await kill(`remove ${DROP_IN}`, { make: () => fleet.removeSet(SET), images: [], holds: {} });
    return killed;
  } finally {
    child.process.kill('SIGKILL');
    await child.ended;
    await rm(directory, { recursive: true, force: true });
  }
}

function verdict(before: readonly string[], after: readonly string[], found: readonly string[]): KilledDaemon {
  const step = before.at(-1) ?? '';
  const reloads = [...before, ...after].filter(isReload).length;
  // Killed after a reload and before that is noted, nobody can know of it.
  const isUnnoted = isReload(step) || (isReload(before.at(-2) ?? '') && step.startsWith('create'));
  const needless = reloads > (isUnnoted ? 2 : 1) ? [`CRI-O was reloaded ${reloads} times`] : [];
  return { step, reloads, problems: [...found, ...needless].map((problem) => `killed at ${step}: ${problem}`) };
}

const isReload = (step: string): boolean => step === 'reload';

/** The law: the drop-in names one of these sets, all of it, and all of that is there; what CRI-O pins is one of them too. */
async function judge(machine: CrioMachine, sets: readonly (readonly string[])[]): Promise<string[]> {
  const named = (await machine.dropIn()) ?? [];
  const { pinned, others } = await machine.images();
  const isOne = (images: readonly string[]): boolean =>
    sets.some((set) => JSON.stringify(set.toSorted()) === JSON.stringify(images));
  const missing = named.filter((image) => !pinned.includes(image) && !others.includes(image));
  return [
    ...(isOne(named) ? [] : [`the drop-in names no whole set: ${named.join(', ')}`]),
    ...(isOne(pinned) ? [] : [`CRI-O pins no whole set: ${pinned.join(', ')}`]),
    ...missing.map((image) => `the drop-in names ${image}, which is not there`),
  ];
}

function startChild(program: string, { crio, kubeconfig, name }: CrioMachine): Child {
  const child = spawn(process.execPath, [program, crio.root, kubeconfig, name, String(crio.pid())], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const steps: string[] = [];
  const lines = createInterface(child.stdout).on('line', (line) => steps.push(line));
  // Whom nobody hears any more.
  child.stdin.on('error', () => {});
  const ended = Promise.all([once(child, 'close'), once(lines, 'close')]);
  return {
    process: child,
    steps,
    ended,
    dieAt(step) {
      const armed = new Promise<true>((resolve) => {
        lines.on('line', (line) => {
          if (line === 'armed') resolve(true);
        });
      });
      // That it knows counts as one.
      child.stdin.write(`die ${typeof step === 'number' ? step + 1 : step}\n`);
      return Promise.race([armed, ended.then(() => false)]);
    },
  };
}
