// Sees that the sets that can be pinned are, and that the runtime goes by it.
import type { Log } from '@slipway/kube';
import type { Problem } from '../problem.ts';
import { addAttempt, type Attempts } from './attempts.ts';
import { problemIn } from './failure.ts';
import type { LocalImages } from './local-images.ts';
import { decidePins, isSamePins, type PinsInput } from './pins.ts';
import type { PinsInForce } from './pins-in-force.ts';
import { LONG_MS } from './runtime-outage.ts';
import type { WantedSet } from './wanted-set.ts';

export interface PinKeeper {
  /** Rejects where the container runtime does not say which images it has. */
  keep(wanted: Pick<PinsInput, 'wanted' | 'unknown' | 'isWell'>, signal: AbortSignal): Promise<void>;
  /** Null: the last try did not fail, or the runtime may only be on its way up. */
  problem(): Problem | null;
  retryAt(): number | null;
}

export interface PinKeeperOptions {
  readonly inForce: PinsInForce;
  readonly images: LocalImages;
  readonly log: Log;
  readonly now: () => number;
  readonly random: () => number;
}

/** A set is pinned by what the runtime has said just now, not by what it must have. */
const FRESH_MS = 5000;

export function createPinKeeper({ inForce, images, log, now, random }: PinKeeperOptions): PinKeeper {
  let failure: Attempts | null = null;
  /** What the runtime said when its pins were last found to be in force. */
  let settledBy: unknown = null;

  async function isInForce(next: readonly WantedSet[]): Promise<boolean> {
    if (!isSamePins(next, inForce.pinned())) return false;
    const seen = images.seen() ?? [];
    if (settledBy !== seen && !(await inForce.isSettled(seen))) return false;
    settledBy = seen;
    return true;
  }

  async function put(next: readonly WantedSet[], signal: AbortSignal): Promise<void> {
    try {
      await inForce.put(next, signal);
    } catch (error) {
      const problem = problemIn(error);
      if (signal.aborted || problem === null) throw error;
      log.warn({ problem }, 'images could not be pinned');
      failure = addAttempt(failure, problem, now(), random());
      return;
    }
    failure = null;
    log.info({ sets: next.map(({ name, generation }) => `${name} ${generation}`) }, 'pinned');
    await images.look(signal);
  }

  return {
    async keep(wanted, signal) {
      const decide = () => decidePins({ ...wanted, pinned: inForce.pinned(), present: images.present() });
      if (!isSamePins(decide(), inForce.pinned()) && !images.isFresh(FRESH_MS)) await images.look(signal);
      const next = decide();
      if (await isInForce(next)) failure = null;
      else if (failure === null || failure.notBefore <= now()) await put(next, signal);
    },
    problem() {
      if (failure === null || (isPassing(failure) && failure.lastAt - failure.firstAt < LONG_MS)) return null;
      return failure.problem;
    },
    retryAt: () => failure?.notBefore ?? null,
  };
}

const isPassing = ({ problem }: Attempts): boolean => problem.code === 'SLW_PINNING_RUNTIME';
