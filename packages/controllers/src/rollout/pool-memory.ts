// What the controllers stored in a pool, for clients that replace the pool as a whole and remove it: `kubectl replace`,
// Argo CD with Replace=true. The state of a rollout is in the pool. This only saves a rollout that was fine from starting
// again with its canary: a new process starts without it.
import { type MachineConfigPool, rolloutHistoryAnnotation, rolloutStateAnnotation } from '@slipway/api';
import type { Stored } from '@slipway/kube';

type Pool = Stored<MachineConfigPool>;

export interface PoolMemory {
  remember(this: void, pool: Pool): void;
  /** The pool with what was removed from it. The same object if nothing was. */
  complete(this: void, pool: Pool): Pool;
  forget(this: void, name: string): void;
  forgetAll(this: void): void;
}

interface RememberedPool {
  readonly uid: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly configuration: MachineConfigPool['spec']['configuration'];
}

const rememberedAnnotations: ReadonlySet<string> = new Set([rolloutStateAnnotation, rolloutHistoryAnnotation]);

export function createPoolMemory(): PoolMemory {
  const pools = new Map<string, RememberedPool>();

  /** Nothing, if the state is there: only a client that replaces the pool removes all of it. */
  function findLost({ metadata }: Pool): RememberedPool | undefined {
    const known = pools.get(metadata.name);
    const isIntact = metadata.annotations?.[rolloutStateAnnotation] !== undefined;
    return isIntact || known?.uid !== metadata.uid ? undefined : known;
  }

  return {
    remember({ metadata: { name, uid, annotations = {} }, spec: { configuration } }) {
      if (annotations[rolloutStateAnnotation] === undefined) return;
      const kept = Object.entries(annotations).filter(([key]) => rememberedAnnotations.has(key));
      pools.set(name, { uid, annotations: Object.fromEntries(kept), configuration });
    },
    complete(pool) {
      const lost = findLost(pool);
      if (lost === undefined) return pool;
      const { metadata, spec } = pool;
      const { configuration = lost.configuration } = spec;
      return {
        ...pool,
        metadata: { ...metadata, annotations: { ...lost.annotations, ...metadata.annotations } },
        // The render controller sets it again in a moment. Until then, the pool is not one without a config.
        spec: { ...spec, ...(configuration !== undefined && { configuration }) },
      };
    },
    forget: (name) => pools.delete(name),
    forgetAll: () => pools.clear(),
  };
}
