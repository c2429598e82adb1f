// What the controllers stored in a pool, for clients that replace the pool as a whole and remove it: `kubectl replace`,
// Argo CD with Replace=true. The state of a rollout is in the pool. This only saves a rollout that was fine from starting
// again with its canary: a new process starts without it.
import { type MachineConfigPool, rolloutHistoryAnnotation, rolloutStateAnnotation } from '@slipway/api';
import type { Stored } from '@slipway/kube';

type Pool = Stored<MachineConfigPool>;

export interface PoolMemory {
  /** A pool that a client has changed, with what was removed from it. The same object if nothing was. */
  restore(this: void, pool: Pool): Pool;
  /** The answer to a write of the controller: what is not there now, it has removed itself. */
  noteWrite(this: void, pool: Pool): void;
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

  function recall({ metadata: { name, uid } }: Pool): RememberedPool | undefined {
    const known = pools.get(name);
    return known?.uid === uid ? known : undefined;
  }

  function remember(pool: Pool): void {
    const { name, uid, annotations = {} } = pool.metadata;
    const kept = Object.entries(annotations).filter(([key]) => rememberedAnnotations.has(key));
    // The render controller sets it again in a moment. Until then, the pool is not one without a config.
    const configuration = pool.spec.configuration ?? recall(pool)?.configuration;
    pools.set(name, { uid, annotations: Object.fromEntries(kept), configuration });
  }

  return {
    restore(pool) {
      const { metadata, spec } = pool;
      const known = recall(pool);
      const annotations = { ...known?.annotations, ...metadata.annotations };
      const configuration = spec.configuration ?? known?.configuration;
      const isWhole = Object.keys(annotations).length === Object.keys(metadata.annotations ?? {}).length;
      const restored =
        isWhole && configuration === spec.configuration
          ? pool
          : {
              ...pool,
              metadata: { ...metadata, annotations },
              spec: { ...spec, ...(configuration !== undefined && { configuration }) },
            };
      remember(restored);
      return restored;
    },
    noteWrite: remember,
    forget: (name) => pools.delete(name),
    forgetAll: () => pools.clear(),
  };
}
