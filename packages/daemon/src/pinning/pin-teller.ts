// Tells the cluster when there is something to tell. The machine goes on without it.
import { isKubeError, type Log } from '@slipway/kube';
import { addAttempt, type Attempts } from './attempts.ts';
import type { PinCluster } from './pin-cluster.ts';
import type { PinSnapshot } from './pin-snapshot.ts';
import { type Told, whenToTell } from './when-to-tell.ts';

export interface PinTeller {
  /** Returns when there will be something to tell without any news; null: never. `assignment` is what the node was told. */
  tell(assignment: string, snapshot: PinSnapshot, signal: AbortSignal): Promise<number | null>;
  /** That nothing is asked of this node. Rejects as the client does. */
  tellNothing(signal: AbortSignal): Promise<void>;
}

export interface PinTellerOptions {
  readonly cluster: Pick<PinCluster, 'report'>;
  readonly log: Log;
  readonly now: () => number;
  readonly random: () => number;
}

export function createPinTeller({ cluster, log, now, random }: PinTellerOptions): PinTeller {
  let told: Told | null = null;
  let failure: Attempts | null = null;
  return {
    async tell(assignment, snapshot, signal) {
      const at = whenToTell(told, assignment, snapshot);
      if (at === null) return null;
      const due = Math.max(at, failure?.notBefore ?? 0);
      if (due > now()) return due;
      try {
        await cluster.report(snapshot, signal);
      } catch (error) {
        signal.throwIfAborted();
        if (!isKubeError(error)) throw error;
        log.warn({ err: error }, 'the cluster could not be told how far the images are; it is tried again');
        failure = addAttempt(failure, { code: error.code, message: error.message }, now(), random());
        return failure.notBefore;
      }
      told = { assignment, snapshot, at: now() };
      failure = null;
      return null;
    },
    async tellNothing(signal) {
      await cluster.report(null, signal);
      told = null;
    },
  };
}
