import { openScratchNamespace, type ScratchNamespace } from '@slipway/testing/control-plane';
import { runControllers, type RunningControllers } from '@slipway/testing/run-controllers';
import { until } from '@slipway/testing/wait';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { KubeObject, Resource, Stored } from '../client/resource.ts';
import { type ControllerDef, done } from './controller-def.ts';

interface ConfigMap extends KubeObject {
  data?: Record<string, string>;
}

const configMaps: Resource<ConfigMap> = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  namespaced: true,
};

const WRITES = 100;
let scratch: ScratchNamespace;
let namespace: string;

beforeAll(async () => {
  scratch = await openScratchNamespace('own-writes');
  ({ namespace } = scratch);
});
afterAll(() => scratch.close());

const countIn = (object: ConfigMap | undefined): number => Number(object?.data?.['count'] ?? 0);

/** Stores the count and the version, and so hides changes of labels. */
const keepCount = ({ metadata, data }: Stored<ConfigMap>): Stored<ConfigMap> => ({
  metadata: { name: metadata.name, namespace, uid: metadata.uid, resourceVersion: metadata.resourceVersion },
  ...(data !== undefined && { data }),
});

/** Requeues itself as fast as it may, triggered by nothing in the cluster. */
async function whileRunning(
  reconcile: ControllerDef['reconcile'],
  source: Partial<ControllerDef['reads'][number]>,
  test: (running: RunningControllers) => Promise<void>,
): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const def: ControllerDef = {
    name: 'counter',
    reads: [{ resource: configMaps, namespace, keysOf: () => [], ...source }],
    owns: [{ resource: configMaps }],
    startsWith: ['all'],
    listen(wake) {
      timer = setInterval(() => wake('all'), 1);
      return () => clearInterval(timer);
    },
    reconcile,
  };
  const running = runControllers(scratch.client, [def], { stopBoundMs: 20_000 });
  try {
    await test(running);
  } finally {
    clearInterval(timer);
    await running.stop();
  }
}

it('a run always sees the writes of earlier runs', async () => {
  const counts: number[] = [];
  let versions = 0;
  await whileRunning(
    async (_key, { read, write }) => {
      const object = read(configMaps).get(`${namespace}/count`);
      counts.push(countIn(object));
      if (countIn(object) >= WRITES) return done();
      const data = { count: String(countIn(object) + 1) };
      if (object === undefined) await write.create(configMaps, { metadata: { namespace, name: 'count' }, data });
      else {
        // The last write changes no stored field: the store emits no event for it.
        const counted = await write.patch(configMaps, object, { data });
        await write.patch(configMaps, counted, { metadata: { labels: { version: String((versions += 1)) } } });
      }
      return done();
    },
    { project: keepCount },
    async ({ log }) => {
      await until(() => expect(counts.at(-1)).toBe(WRITES));
      expect(counts.filter((count) => count < WRITES)).toEqual(Array.from({ length: WRITES }, (_, count) => count));
      const lines = log().trim().split('\n');
      expect(lines.filter((line) => !line.includes('controller started'))).toEqual([]);
    },
  );
});

it('a controller does not wait for writes outside its sources', async () => {
  let runs = 0;
  await whileRunning(
    async (_key, { write }) => {
      runs += 1;
      await write.create(configMaps, { metadata: { namespace, name: `outside-${runs}` } });
      return done();
    },
    { labelSelector: 'watched' },
    async () => {
      await until(() => expect(runs).toBeGreaterThanOrEqual(20));
    },
  );
});
