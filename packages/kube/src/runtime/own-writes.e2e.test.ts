import { randomBytes } from 'node:crypto';
import { connectToShared } from '@slipway/testing/control-plane';
import { until } from '@slipway/testing/wait';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Client } from '../client/client.ts';
import type { KubeObject, Resource, Stored } from '../client/resource.ts';
import { type ControllerDef, done } from './controller-def.ts';
import { createRecorder } from './events.ts';
import { createLog } from './log.ts';
import { createManager } from './manager.ts';
import { createMetrics } from './metrics.ts';

interface ConfigMap extends KubeObject {
  data?: Record<string, string>;
}

const core = { group: '', version: 'v1' } as const;
const configMaps: Resource<ConfigMap> = { ...core, kind: 'ConfigMap', plural: 'configmaps', namespaced: true };
const namespaces: Resource = { ...core, kind: 'Namespace', plural: 'namespaces', namespaced: false };

const namespace = `own-writes-${randomBytes(4).toString('hex')}`;
const WRITES = 100;
let client: Client;

beforeAll(async () => {
  client = await connectToShared();
  await client.create(namespaces, { metadata: { name: namespace } });
});
afterAll(async () => {
  await client.delete(namespaces, { name: namespace }, {});
  await client.transport.close();
});

const countIn = (object: ConfigMap | undefined): number => Number(object?.data?.['count'] ?? 0);

/** Keeps the count and the version, and so hides what is written to labels. */
const keepCount = ({ metadata, data }: Stored<ConfigMap>): Stored<ConfigMap> => ({
  metadata: { name: metadata.name, namespace, uid: metadata.uid, resourceVersion: metadata.resourceVersion },
  ...(data !== undefined && { data }),
});

/** Runs again and again, woken by nothing in the cluster, as fast as it may. */
async function whileRunning(
  reconcile: ControllerDef['reconcile'],
  source: Partial<ControllerDef['reads'][number]>,
  test: (lines: readonly string[]) => Promise<void>,
): Promise<void> {
  const lines: string[] = [];
  const log = createLog({ pretty: false, level: 'debug', write: (line) => lines.push(line) });
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
  const metrics = createMetrics();
  const events = createRecorder(client, { component: 'test', log });
  const manager = createManager({ client, controllers: [def], events, log, metrics });
  manager.start();
  try {
    await test(lines);
  } finally {
    clearInterval(timer);
    await manager.stop();
  }
}

it('a run never decides on less than what runs before it have written', async () => {
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
        // The last write changes nothing that is kept: no event of the store tells of it.
        const counted = await write.patch(configMaps, object, { data });
        await write.patch(configMaps, counted, { metadata: { labels: { version: String((versions += 1)) } } });
      }
      return done();
    },
    { project: keepCount },
    async (lines) => {
      await until(() => expect(counts.at(-1)).toBe(WRITES));
      expect(counts.filter((count) => count < WRITES)).toEqual(Array.from({ length: WRITES }, (_, count) => count));
      expect(lines.filter((line) => !line.includes('controller started'))).toEqual([]);
    },
  );
});

it('a controller is not held up by what it writes outside of what it watches', async () => {
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
