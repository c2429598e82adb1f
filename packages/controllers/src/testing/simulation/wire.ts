// The path of a reconcile's calls to the server in virtual time: slow, and not always to the end.
import { KubeError, type WriteAttempt } from '@slipway/kube';
import type { Wire } from './memory-client.ts';
import type { VirtualTime } from './virtual-time.ts';

/** The result of a write. `unknown`: the process never learns whether it landed. */
export type Fate = 'lands' | 'is refused' | 'unknown, landed' | 'unknown, lost' | 'dies before' | 'dies after';

export interface WireOptions {
  readonly time: VirtualTime;
  /** How long a call takes in one direction. */
  latencyMs(this: void): number;
  fateOf(this: void, write: WriteAttempt): Fate;
  /** Executes a write, and knows its writer. */
  by<T>(this: void, write: WriteAttempt, carryOut: () => T): T;
  isDead(this: void): boolean;
  die(this: void): void;
}

/** Never settles: its caller is dead. */
const never = new Promise<never>(() => {});

export function createWire({ time, latencyMs, fateOf, by, isDead, die }: WireOptions): Wire {
  const travel = (): Promise<void> =>
    new Promise((resolve) => {
      time.after(latencyMs(), () => {
        if (!isDead()) resolve();
      });
    });

  function arrive<T>(write: WriteAttempt, fate: Fate, carryOut: () => T): T {
    if (fate === 'is refused') throw new KubeError('SLW_KUBE_SERVER', 'the server cannot answer now');
    if (fate === 'unknown, lost') throw new KubeError('SLW_KUBE_OUTCOME_UNKNOWN', 'no answer came');
    const answer = by(write, carryOut);
    if (fate === 'unknown, landed') throw new KubeError('SLW_KUBE_OUTCOME_UNKNOWN', 'no answer came');
    return answer;
  }

  return async (write, carryOut) => {
    if (isDead()) return never;
    await travel();
    if (write === null) {
      const answer = carryOut();
      await travel();
      return answer;
    }
    const fate = fateOf(write);
    if (fate === 'dies before') {
      die();
      return never;
    }
    try {
      return arrive(write, fate, carryOut);
    } finally {
      if (fate === 'dies after') {
        die();
        await never;
      }
      await travel();
    }
  };
}
