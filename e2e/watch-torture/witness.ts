import { type ConfigMap, configMaps } from '@slipway/api';
import { createInformer, createTransport, isKubeError, keyOf } from '@slipway/kube';
import type { Informer, InformerOptions, Stored, Transport } from '@slipway/kube';

type Access = Parameters<typeof createTransport>[0];
type Change = Parameters<Parameters<Informer<ConfigMap>['onChange']>[0]>[0];

/** An informer, and somebody who listens to it and believes only what makes sense. */
export interface Witness {
  readonly name: string;
  readonly informer: Informer<ConfigMap>;
  /** What was heard that cannot be: an object new twice, a version twice, or out of order. */
  readonly lies: readonly string[];
  /** What the listener believes to exist, by key. */
  readonly believed: ReadonlyMap<string, Stored<ConfigMap>>;
  readonly heard: number;
  /** How often the history was gone, and how often everything was read. */
  readonly gone: number;
  readonly reads: number;
  readonly problems: ReadonlyMap<string, number>;
  /** The versions among these that were never heard, though the watch was never without history for them. */
  missed(this: void, versions: readonly string[]): { missed: string[]; checked: number };
  stop(): Promise<void>;
}

/** `multiplex`: over HTTP/2, as daemons watch. */
export function startWitness(
  name: string,
  access: Access,
  { multiplex = false, ...options }: Partial<InformerOptions<ConfigMap>> & { multiplex?: boolean },
): Witness {
  const transport = createTransport(access, { retryForMs: 1000, multiplex });
  const history = recordReads(transport);
  const problems = new Map<string, number>();
  const informer = createInformer(history.transport, {
    resource: configMaps,
    // Its connection is cut all the time: with the usual half minute the test would mostly wait.
    longestBackoffMs: 2000,
    ...options,
    onProblem: (error) => {
      const code = isKubeError(error) ? error.code : String(error);
      problems.set(code, (problems.get(code) ?? 0) + 1);
    },
  });
  const lies: string[] = [];
  const believed = new Map<string, Stored<ConfigMap>>();
  const heard = new Set<string>();
  const last = new Map<string, number>();

  informer.onChange((change) => {
    const before = change.type === 'added' ? undefined : change.old;
    const after = change.type === 'deleted' ? undefined : change.object;
    const key = keyOf(before ?? (after as Stored<ConfigMap>));
    const lie = contradiction(change, believed.get(key), last.get(key) ?? 0);
    if (lie !== undefined) lies.push(`${name}: ${key}: ${lie}`);
    if (after === undefined) {
      believed.delete(key);
      return;
    }
    const { resourceVersion } = after.metadata;
    if (heard.has(resourceVersion)) lies.push(`${name}: ${key}: version ${resourceVersion} was heard twice`);
    heard.add(resourceVersion);
    last.set(key, Number(resourceVersion));
    believed.set(key, after);
  });

  const abort = new AbortController();
  informer.start(abort.signal);
  return {
    name,
    informer,
    lies,
    believed,
    problems,
    get heard() {
      return heard.size;
    },
    get gone() {
      return problems.get('SLW_KUBE_GONE') ?? 0;
    },
    get reads() {
      return history.reads();
    },
    missed(versions) {
      const checked = versions.filter((version) => !history.withoutHistory(Number(version)));
      return { missed: checked.filter((version) => !heard.has(version)), checked: checked.length };
    },
    async stop() {
      abort.abort();
      await transport.close();
    },
  };
}

/** Why a change cannot have happened, given what was heard of this object before. */
function contradiction(change: Change, known: Stored<ConfigMap> | undefined, lastVersion: number): string | undefined {
  const before = change.type === 'added' ? undefined : change.old;
  if (before !== known)
    return `${change.type}, but ${known === undefined ? 'it did not exist' : 'something else was there'}`;
  if (change.type === 'deleted') return undefined;
  const { uid, resourceVersion } = change.object.metadata;
  if (change.type === 'updated' && change.old.metadata.uid !== uid) return 'updated into another object';
  return Number(resourceVersion) > lastVersion
    ? undefined
    : `${change.type} with version ${resourceVersion} after version ${lastVersion}`;
}

/**
 * Notes where each watch begins. When everything is read anew, what happened between the last watch's beginning and
 * the next one's may rightly be known only by its outcome; all the rest must have been heard.
 */
function recordReads(transport: Transport): {
  transport: Transport;
  reads(): number;
  withoutHistory(version: number): boolean;
} {
  const asks: (number | 'all')[] = [];
  return {
    transport: {
      ...transport,
      open: (request) => {
        const from = request.query?.['watch'] === 'true' ? request.query['resourceVersion'] : undefined;
        if (request.query?.['continue'] === undefined) asks.push(from === undefined ? 'all' : Number(from));
        return transport.open(request);
      },
    },
    reads: () => asks.filter((ask) => ask === 'all').length,
    withoutHistory(version) {
      return asks.some((ask, index) => {
        if (ask !== 'all') return false;
        const before = asks.slice(0, index).findLast(isVersion) ?? 0;
        const after = asks.slice(index).find(isVersion) ?? Number.POSITIVE_INFINITY;
        return version > before && version <= after;
      });
    },
  };
}

const isVersion = (ask: number | 'all'): ask is number => ask !== 'all';
