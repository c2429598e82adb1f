import type { Client } from '../client/client.ts';
import { KubeError } from '../client/errors.ts';
import { type KubeObject, resourceId } from '../client/resource.ts';
import { createInformer, type Informer } from '../watch/informer.ts';
import { createReconnectSpread } from '../watch/reconnect.ts';
import type { ControllerDef, Source } from './controller-def.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';

export interface InformerPoolOptions {
  client: Client;
  controllers: readonly Pick<ControllerDef, 'name' | 'reads'>[];
  metrics: Metrics;
  log: Log;
  /** See ManagerOptions. */
  reconnectSpreadMs?: number | undefined;
}

export interface InformerPool {
  acquire(source: Source): Informer<KubeObject>;
  release(source: Source): void;
  close(): void;
}

/** One informer for all sources with the same watch; closed when the last user releases it. */
export function createInformerPool(options: InformerPoolOptions): InformerPool {
  const { client, controllers, metrics, log, reconnectSpreadMs = 0 } = options;
  const spreadMs = createReconnectSpread(reconnectSpreadMs);
  const identify = createIdentities();
  const toShareKey = (source: Source): string => shareKey(source, identify);
  const indexes = mergeIndexes(controllers, toShareKey);
  const open = new Map<string, { informer: Informer<KubeObject>; users: number; abort: AbortController }>();

  function start(
    source: Source,
    share: string,
  ): { informer: Informer<KubeObject>; users: number; abort: AbortController } {
    const resource = resourceId(source.resource);
    const informer = createInformer(client.transport, {
      ...source,
      indexes: indexes.get(share),
      spreadMs,
      onProblem: (error) => {
        metrics.watchRestarts.inc({ resource, code: error instanceof KubeError ? error.code : 'other' });
        log.warn({ err: error, resource }, 'watch failed; reopening it');
      },
    });
    const abort = new AbortController();
    abort.signal.addEventListener(
      'abort',
      metrics.observeWatch(resource, () => informer.downSince === undefined),
    );
    informer.start(abort.signal);
    return { informer, users: 0, abort };
  }

  return {
    acquire(source) {
      const share = toShareKey(source);
      const shared = open.get(share) ?? start(source, share);
      open.set(share, shared);
      shared.users += 1;
      return shared.informer;
    },
    release(source) {
      const share = toShareKey(source);
      const shared = open.get(share);
      if (shared === undefined) return;
      shared.users -= 1;
      if (shared.users > 0) return;
      shared.abort.abort();
      open.delete(share);
    },
    close() {
      for (const { abort } of open.values()) abort.abort();
      open.clear();
    },
  };
}

/** Functions have no reliable name, so they are numbered in order of first use. */
function createIdentities(): (thing: object | undefined) => number {
  const known = new Map<object, number>();
  return (thing) => {
    if (thing === undefined) return 0;
    const id = known.get(thing) ?? known.size + 1;
    known.set(thing, id);
    return id;
  };
}

export function shareKey(source: Source, identify: (thing: object | undefined) => number): string {
  const { resource, as = 'full', namespace, labelSelector, fieldSelector, project } = source;
  const { group, version, plural } = resource;
  return JSON.stringify([group, version, plural, as, namespace, labelSelector, fieldSelector, identify(project)]);
}

type Indexes = NonNullable<Source['indexes']>;

export function mergeIndexes(
  controllers: readonly Pick<ControllerDef, 'name' | 'reads'>[],
  shareOf: (source: Source) => string,
): Map<string, Indexes> {
  const merged = new Map<string, Indexes>();
  for (const { name, reads } of controllers) {
    for (const source of reads) {
      const share = shareOf(source);
      const before = merged.get(share) ?? {};
      const clash = Object.entries(source.indexes ?? {}).find(([index, of]) => (before[index] ?? of) !== of);
      if (clash !== undefined) {
        throw new Error(
          `controller ${name}: the index ${clash[0]} of ${resourceId(source.resource)} is already defined by a different function on the shared store. Use the same function, or rename the index`,
        );
      }
      merged.set(share, { ...before, ...source.indexes });
    }
  }
  return merged;
}
