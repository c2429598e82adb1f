// When the cluster is told. However many images there are, a node writes: once when it is told something new and once when it is
// through, at most ten times on the way there, once in two minutes where that is slow, and when another thing goes wrong.
import type { PinProgress } from '@slipway/fleet';
import type { PinSnapshot } from './pin-snapshot.ts';
import { hasMoved } from './pin-status.ts';

export interface Told {
  /** What the node was told, and by which object. */
  readonly assignment: string;
  readonly snapshot: PinSnapshot;
  readonly at: number;
}

const BETWEEN_MS = 10_000;
const SLICE_MS = 120_000;
const STORE_MS = 3_600_000;

/** The moment, perhaps one that has passed. Null: there is nothing to tell. */
export function whenToTell(told: Told | null, assignment: string, snapshot: PinSnapshot): number | null {
  if (told?.assignment !== assignment) return 0;
  const before = told.snapshot;
  if (before.isWorking !== snapshot.isWorking) return 0;
  if ((before.problem === '') !== (snapshot.problem === '')) return 0;
  if (before.problemKey !== snapshot.problemKey) return told.at + BETWEEN_MS;
  return snapshot.isWorking ? whileWorking(told, snapshot) : whenIdle(told, snapshot);
}

function whileWorking({ snapshot: before, at }: Told, snapshot: PinSnapshot): number | null {
  const { progress: was } = before;
  const { progress: is } = snapshot;
  if (tenthOf(was) !== tenthOf(is) || was.waitsFor !== is.waitsFor) return at + BETWEEN_MS;
  return standing(before) === standing(snapshot) ? null : at + SLICE_MS;
}

/** Of all that is said but the rate, which always moves, and the free space, which others move. */
function standing({ sets, progress }: PinSnapshot): string {
  const { bytesPerSecond: _rate, secondsLeft: _left, store: _store, ...rest } = progress;
  return JSON.stringify([sets, rest]);
}

function whenIdle({ snapshot: before, at }: Told, snapshot: PinSnapshot): number | null {
  if (JSON.stringify(before.sets) !== JSON.stringify(snapshot.sets)) return 0;
  return hasMoved(before.progress.store, snapshot.progress.store) ? at + STORE_MS : null;
}

/** By bytes where they are known, else by images. */
function tenthOf({ bytes, sets }: PinProgress): number {
  const { done, total } = bytes ?? sumOfImages(sets);
  return total === 0 ? 0 : Math.floor((10 * done) / total);
}

function sumOfImages(sets: PinProgress['sets']): { done: number; total: number } {
  let [done, total] = [0, 0];
  for (const { images } of sets) {
    done += images.done;
    total += images.total;
  }
  return { done, total };
}
