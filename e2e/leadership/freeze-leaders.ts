// Leaders that are frozen past their lease and woken, again and again, while the next one works.
import { randomUUID } from 'node:crypto';
import { configMaps, namespaces } from '@slipway/api';
import { createInformer } from '@slipway/kube';
import { connectToShared } from '@slipway/testing/control-plane';
import { expect, inject } from 'vitest';
import { endCandidate, freezeLeader, startCandidate } from './pair.ts';
import type { FreezeResult, Pair } from './pair.ts';

const listObjectNames = (pair: string): string[] => [`${pair}-a`, `${pair}-b`];

interface LeadershipResult {
  runs: FreezeResult[];
  /** A write of an earlier term on an object that a later term had changed already. */
  stale: string[];
}

/** Pairs of candidates, each for a lease and objects of its own; in each pair the leader is frozen again and again. */
export async function freezeLeaders(options: {
  pairs: number;
  runs: number;
  unfenced: boolean;
}): Promise<LeadershipResult> {
  const kubeconfig = inject('kubeconfig');
  const namespace = `leadership-${randomUUID().slice(0, 8)}`;
  const names = Array.from({ length: options.pairs }, (_, at) => `pair-${at}`);
  const client = await connectToShared();
  const { transport } = client;
  const ended = new AbortController();
  const stale: string[] = [];
  const runs: FreezeResult[] = [];
  const pairs: Pair[] = [];
  try {
    await client.create(namespaces, { metadata: { name: namespace } });
    for (const pair of names) {
      for (const name of listObjectNames(pair)) {
        await client.create(configMaps, { metadata: { name, namespace, labels: { pair } } });
      }
    }
    // Every version of every object, in order: what it was, and what was written on it.
    const watch = createInformer(transport, { resource: configMaps, namespace });
    watch.onChange((change) => {
      if (change.type !== 'updated') return;
      const [before, after] = [change.old.data, change.object.data];
      if (Number(after?.['term']) < Number(before?.['term'] ?? -1)) {
        stale.push(`${change.object.metadata.name}: term ${after?.['term']} written over term ${before?.['term']}`);
      }
    });
    watch.start(ended.signal);
    await watch.synced;
    const readData = (pair: string, field: string): (string | undefined)[] =>
      listObjectNames(pair).map((name) => watch.store.get(`${namespace}/${name}`)?.data?.[field]);

    for (const pair of names) {
      const candidate = (identity: string) =>
        startCandidate({ kubeconfig, namespace, pair, identity, unfenced: options.unfenced });
      pairs.push({
        candidates: [candidate(`${pair}-one`), candidate(`${pair}-two`)],
        terms: () => readData(pair, 'term').map((term) => (term === undefined ? undefined : Number(term))),
        sequences: () => readData(pair, 'sequence').map((sequence) => Number(sequence ?? 0)),
      });
    }
    let left = options.runs;
    await Promise.all(
      pairs.map(async (pair) => {
        while (left > 0) {
          left -= 1;
          runs.push(await freezeLeader(pair));
        }
      }),
    );
    return { runs, stale };
  } finally {
    for (const { candidates } of pairs) candidates.forEach(endCandidate);
    ended.abort();
    await transport.close();
  }
}

/** In as many runs. Without a run that is refused they would show nothing. */
export async function expectNoStaleWrites(count: number): Promise<void> {
  const started = performance.now();
  const { runs, stale } = await freezeLeaders({ pairs: 5, runs: count, unfenced: false });
  const refused = runs.flatMap((run) => run.refused);
  const byCode = Object.entries(Object.groupBy(refused, (code) => code)).map(([code, all]) => `${code} ${all?.length}`);
  console.log(
    `leadership: ${runs.length} freezes in ${((performance.now() - started) / 1000).toFixed(1)} s, ${runs.filter(({ pending }) => pending > 0).length} with a write in hand; refused after waking: ${byCode.join(', ')}; stale writes: ${stale.length}`,
  );
  expect(stale).toEqual([]);
  expect(runs.length).toBe(count);
  expect(refused.length).toBeGreaterThan(count / 5);
}
