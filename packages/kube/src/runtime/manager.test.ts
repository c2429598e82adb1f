import { createManualClock } from '@slipway/testing/manual-clock';
import { until } from '@slipway/testing/wait';
import { describe, expect, it } from 'vitest';
import { createClient } from '../client/client.ts';
import { KubeError } from '../client/errors.ts';
import type { Resource, Stored } from '../client/resource.ts';
import type { Request, Transport } from '../client/transport.ts';
import { anyVersion } from '../client/writer.ts';
import { type ControllerDef, done, type Gate, type Gates, type Source } from './controller-def.ts';
import { createRecorder } from './events.ts';
import { mergeIndexes, shareKey } from './informer-pool.ts';
import { silentLog } from './log.ts';
import { createManager, listLostWatches, type Manager, type ManagerOptions } from './manager.ts';
import { createMetrics } from './metrics.ts';

const pools: Resource = { group: 'example.io', version: 'v1', kind: 'Pool', plural: 'pools', namespaced: false };
const nodes: Resource = { group: '', version: 'v1', kind: 'Node', plural: 'nodes', namespaced: false };

/** A server that streams one object of each kind, completes the initial list, and then sends what `send` passes. */
function streamServer() {
  const open = new Map<string, number>();
  const senders = new Set<(event: object) => void>();
  const server = { silent: false, open, opened: 0 };
  async function* stream(path: string, signal: AbortSignal | undefined): AsyncGenerator<Buffer> {
    if (!server.silent) {
      const object = { metadata: { name: 'worker', uid: 'u', resourceVersion: '1' } };
      yield line({ type: 'ADDED', object });
      const annotations = { 'k8s.io/initial-events-end': 'true' };
      yield line({ type: 'BOOKMARK', object: { metadata: { resourceVersion: '2', annotations } } });
    }
    try {
      const aborted = new Promise<never>((_resolve, reject) => signal?.addEventListener('abort', reject));
      for (;;) {
        const more = Promise.withResolvers<object>();
        senders.add(more.resolve);
        yield line(await Promise.race([more.promise, aborted]));
      }
    } finally {
      open.set(path, (open.get(path) ?? 0) - 1);
    }
  }
  const line = (event: object): Buffer => Buffer.from(`${JSON.stringify(event)}\n`);
  const transport: Transport = {
    server: 'memory',
    json: () => Promise.resolve({}),
    open: ({ path, signal }) => {
      open.set(path, (open.get(path) ?? 0) + 1);
      server.opened += 1;
      return Promise.resolve(Object.assign(stream(path, signal), { destroy: () => {} }));
    },
    close: () => Promise.resolve(),
  };
  const send = (event: object): void => {
    for (const each of senders) each(event);
    senders.clear();
  };
  return { ...server, server, transport, send };
}

function gatesByHand(on: Set<string>): Gates & { set(gate: string, value: boolean): void } {
  const listeners = new Set<() => void>();
  return {
    isOn: (gate) => on.has(gate),
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    set(gate, value) {
      if (value) on.add(gate);
      else on.delete(gate);
      for (const listener of listeners) listener();
    },
  };
}

/** A controller that records its keys. */
function remembering(name: string, reads: readonly Source[], more: Partial<ControllerDef> = {}) {
  const keys: string[] = [];
  const def: ControllerDef = {
    name,
    reads,
    owns: [],
    reconcile: (key) => {
      keys.push(key);
      return Promise.resolve(done());
    },
    ...more,
  };
  return { def, keys };
}

interface Setting {
  transport: Transport;
  controllers: ControllerDef[];
  gates?: Gates;
  election?: NonNullable<ManagerOptions['election']>;
}

async function withManager(
  { transport, controllers, gates, election }: Setting,
  test: (manager: Manager, metricsText: () => Promise<string>) => Promise<void>,
): Promise<void> {
  const [client, log, metrics] = [createClient(transport), silentLog(), createMetrics()];
  const events = createRecorder(client, { component: 'test', log });
  const manager = createManager({ client, controllers, events, log, metrics, gates, election, stopBoundMs: 200 });
  manager.start();
  try {
    await test(manager, () => metrics.registry.metrics());
  } finally {
    await manager.stop();
  }
}

describe('a manager', () => {
  it('shares one watch among controllers with the same source, and each gets its keys', async () => {
    const server = streamServer();
    const [one, other] = [
      remembering('one', [{ resource: pools }]),
      remembering('other', [{ resource: pools }, { resource: nodes, keysOf: () => [] }]),
    ];
    await withManager({ ...server, controllers: [one.def, other.def] }, async (manager) => {
      await until(() => expect([one.keys, other.keys]).toEqual([['worker'], ['worker']]), 'process');
      expect(Object.fromEntries(server.open)).toEqual({ '/apis/example.io/v1/pools': 1, '/api/v1/nodes': 1 });
      expect(manager.ready()).toEqual({ ok: true, problems: [] });
      expect(manager.live()).toEqual({ ok: true, problems: [] });
    });
    await until(() => expect([...server.open.values()]).toEqual([0, 0]), 'process');
  });

  it('runs nothing before all sources have synced, and reports it', async () => {
    const server = streamServer();
    server.server.silent = true;
    const one = remembering('one', [{ resource: pools }]);
    await withManager({ ...server, controllers: [one.def] }, async (manager) => {
      await until(() => expect(server.open.size).toBe(1), 'process');
      expect(manager.ready()).toEqual({ ok: false, problems: ['controller one has not synced all its sources'] });
      expect(one.keys).toEqual([]);
    });
  });

  it('starts and stops a controller with its gate, and its watches with it', async () => {
    const server = streamServer();
    const gates = gatesByHand(new Set());
    const [always, gated] = [
      remembering('always', [{ resource: pools }]),
      remembering('gated', [{ resource: pools }, { resource: nodes, keysOf: () => [] }], { gate: 'OSStreams' }),
    ];
    await withManager({ ...server, controllers: [always.def, gated.def], gates }, async (manager, metricsText) => {
      await until(() => expect(always.keys).toEqual(['worker']), 'process');
      expect(gated.keys).toEqual([]);
      expect(manager.ready().ok).toBe(true);
      expect(await metricsText()).toContain('{subcontroller="gated",state="off",object=""} 1');

      gates.set('OSStreams', true);
      await until(() => expect(gated.keys).toEqual(['worker']), 'process');
      expect(server.open.get('/api/v1/nodes')).toBe(1);
      expect(await metricsText()).toContain('{subcontroller="gated",state="running",object=""} 1');

      gates.set('OSStreams', false);
      await until(() => expect(server.open.get('/api/v1/nodes')).toBe(0), 'process');
      expect(server.open.get('/apis/example.io/v1/pools')).toBe(1);

      gates.set('OSStreams', true);
      await until(() => expect(gated.keys).toEqual(['worker', 'worker']), 'process');
    });
  });

  it('a stop lets a run finish, and aborts it after the bound', async () => {
    const server = streamServer();
    const ends: string[] = [];
    let started = 0;
    const reconcile: ControllerDef['reconcile'] = async (_key, { signal }) => {
      started += 1;
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      ends.push('asked');
      return done();
    };
    const quick: ControllerDef['reconcile'] = async () => {
      started += 1;
      await new Promise((resolve) => void setTimeout(resolve, 20));
      ends.push('by itself');
      return done();
    };
    const controllers = [
      remembering('slow', [{ resource: pools }], { reconcile }).def,
      remembering('quick', [{ resource: pools }], { reconcile: quick }).def,
    ];
    await withManager({ ...server, controllers }, () => until(() => expect(started).toBe(2), 'process'));
    expect(ends).toEqual(['by itself', 'asked']);
  });
});

describe('a gate that is off', () => {
  /** A gated controller that records when it runs, ends and cleans up. */
  function gated(whenOff: Gate['whenOff'], more: Partial<ControllerDef> = {}) {
    return remembering('gated', [{ resource: pools }], {
      gate: { name: 'Pins', whenOff },
      owns: [{ resource: pools }],
      ...more,
    });
  }

  it('makes a controller clean up once at the start, and watch nothing', async () => {
    const server = streamServer();
    let cleaned = 0;
    const { def, keys } = gated(() => Promise.resolve(void (cleaned += 1)));
    const gates = gatesByHand(new Set());
    await withManager({ ...server, controllers: [def], gates }, async (manager, metricsText) => {
      await until(() => expect(cleaned).toBe(1), 'process');
      gates.set('Another', true);
      gates.set('Another', false);
      await new Promise((resolve) => void setTimeout(resolve, 50));
      expect([cleaned, keys, server.server.opened]).toEqual([1, [], 0]);
      expect(manager.ready()).toEqual({ ok: true, problems: [] });
      expect(await metricsText()).toContain('{subcontroller="gated",state="off",object=""} 1');
    });
  });

  it('makes it clean up after it is turned off and the last run has ended', async () => {
    const server = streamServer();
    const log: string[] = [];
    const runEnds = Promise.withResolvers<void>();
    const gates = gatesByHand(new Set(['Pins']));
    const { def } = gated(() => Promise.resolve(void log.push('cleaned up')), {
      reconcile: async () => {
        log.push('run');
        await runEnds.promise;
        log.push('end of the run');
        return done();
      },
    });
    await withManager({ ...server, controllers: [def], gates }, async () => {
      await until(() => expect(log).toEqual(['run']), 'process');
      gates.set('Pins', false);
      await new Promise((resolve) => void setTimeout(resolve, 20));
      runEnds.resolve();
      await until(() => expect(log).toEqual(['run', 'end of the run', 'cleaned up']), 'process');
      gates.set('Pins', true);
      await until(() => expect(log.slice(3)).toEqual(['run', 'end of the run']), 'process');
      gates.set('Pins', false);
      await until(() => expect(log.slice(5)).toEqual(['cleaned up']), 'process');
    });
  });

  it('makes it retry until that succeeds, with its ownership and field manager', async () => {
    const server = streamServer();
    const log: unknown[] = [];
    const requests: Request[] = [];
    const transport: Transport = {
      ...server.transport,
      json: (request) => {
        requests.push(request);
        return Promise.resolve({ metadata: { name: 'worker', uid: 'u', resourceVersion: '3' } });
      },
    };
    const { def } = gated(async ({ client, write }) => {
      log.push('try');
      if (log.length === 1) throw new KubeError('SLW_KUBE_SERVER', 'down');
      const pool = await client.get(pools, { name: 'worker' });
      await write.patch(pools, pool, { metadata: { annotations: { pins: null } } });
      await write.remove(nodes, anyVersion({ name: 'n' })).catch((error: unknown) => log.push(error));
    });
    const gates = gatesByHand(new Set());
    await withManager({ transport, controllers: [def], gates }, async () => {
      await until(() => expect(log.length).toBe(3), 'process');
      expect(log.slice(0, 2)).toEqual(['try', 'try']);
      expect(String(log[2])).toContain('nodes is not in its owns');
      expect(requests.map(({ method, query }) => [method, query?.['fieldManager']])).toEqual([
        ['GET', undefined],
        ['PATCH', 'slipway-gated'],
      ]);
    });
  });

  it.each<[string, Partial<Setting>]>([
    ['where nobody knows about gates', {}],
    ['in a process that does not lead', { gates: gatesByHand(new Set()), election: leaseServer(true).election }],
  ])('cleans up nothing %s', async (_promise, setting) => {
    let cleaned = 0;
    const { def } = gated(() => Promise.resolve(void (cleaned += 1)));
    await withManager({ ...streamServer(), controllers: [def], ...setting }, async (manager) => {
      await until(() => expect(manager.ready().ok).toBe(true), 'process');
      await new Promise((resolve) => void setTimeout(resolve, 50));
      expect(cleaned).toBe(0);
    });
  });
});

/**
 * A server with one lease without other candidates; while it is down, it does not respond. Leadership is lost when the
 * test advances the time, and never because the machine is slow.
 */
function leaseServer(isTaken = false) {
  let lease: Record<string, unknown> | undefined;
  let version = 0;
  if (isTaken) {
    const metadata = { name: 'lock', namespace: 'ns', uid: 'u', resourceVersion: '0' };
    lease = { metadata, spec: { holderIdentity: 'another', leaseDurationSeconds: 3600 } };
  }
  const server = { down: false, holder: () => (lease?.['spec'] as { holderIdentity?: string })?.holderIdentity };
  const answer = ({ method, body }: Request): unknown => {
    if (server.down) throw new KubeError('SLW_KUBE_UNREACHABLE', 'down');
    if (method === 'GET' && lease === undefined) throw new KubeError('SLW_KUBE_NOT_FOUND', 'none');
    if (method === 'GET') return lease;
    version += 1;
    lease = { ...body, metadata: { name: 'lock', namespace: 'ns', uid: 'u', resourceVersion: String(version) } };
    return lease;
  };
  const json = async (request: Request): Promise<unknown> => {
    await Promise.resolve();
    return answer(request);
  };
  const { transport } = streamServer();
  const clock = createManualClock();
  const election: NonNullable<ManagerOptions['election']> = {
    client: createClient({ ...transport, json }),
    lease: { namespace: 'ns', name: 'lock' },
    identity: 'me',
    leaseMs: 1000,
    renewDeadlineMs: 200,
    retryMs: 20,
    clock,
  };
  const loseLease = (): Promise<void> => {
    server.down = true;
    return clock.advance(200);
  };
  const winLease = (): Promise<void> => {
    server.down = false;
    return clock.advance(30);
  };
  return { server, election, loseLease, winLease };
}

describe('leadership', () => {
  it('a lost lease stops every run and refuses its writes; regained, runs restart, never alongside the old one', async () => {
    const { server, election, loseLease, winLease } = leaseServer();
    const log: string[] = [];
    const runEnds = Promise.withResolvers<void>();
    const reconcile: ControllerDef['reconcile'] = async (_key, { signal, client }) => {
      log.push('run');
      if (log.length > 1) return done();
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      log.push('asked to end');
      // Leadership is back before this run is over.
      await runEnds.promise;
      const write = client.create(pools, { metadata: { name: 'x' } });
      await write.catch((error: unknown) => log.push(error instanceof KubeError ? error.code : 'other'));
      return done();
    };
    const { def } = remembering('one', [{ resource: pools }], { reconcile, owns: [{ resource: pools }] });
    await withManager({ ...streamServer(), controllers: [def], election }, async ({ leadership }) => {
      await until(() => expect(log).toEqual(['run']), 'process');
      await loseLease();
      await until(() => expect(log).toEqual(['run', 'asked to end']), 'process');
      expect(leadership?.held).toBe(false);
      await winLease();
      expect(leadership?.held).toBe(true);
      runEnds.resolve();
      await until(() => expect(log).toEqual(['run', 'asked to end', 'SLW_KUBE_NOT_LEADER', 'run']), 'process');
    });
    expect(server.holder()).toBe('');
  });

  it('a leader that briefly lost the lease still waits for its earlier writes', async () => {
    const { election, loseLease, winLease } = leaseServer();
    const streams = streamServer();
    const transport: Transport = {
      ...streams.transport,
      json: () => Promise.resolve({ metadata: { name: 'worker', uid: 'u', resourceVersion: '5' } }),
    };
    let runs = 0;
    const reconcile: ControllerDef['reconcile'] = async (_key, { write, read, signal }) => {
      runs += 1;
      const pool = read(pools).get('worker');
      if (pool !== undefined) await write.patch(pools, pool, {});
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      return done();
    };
    const { def } = remembering('one', [{ resource: pools }], { reconcile, owns: [{ resource: pools }] });
    await withManager({ transport, controllers: [def], election }, async ({ leadership }, metricsText) => {
      const is = (state: string) =>
        until(async () => expect(await metricsText()).toContain(`{subcontroller="one",state="${state}",object=""} 1`));
      await until(() => expect(runs).toBe(1), 'process');
      await loseLease();
      expect(leadership?.held).toBe(false);
      await is('standby');
      await winLease();
      expect(leadership?.held).toBe(true);
      await is('running');
      await new Promise((resolve) => void setTimeout(resolve, 50));
      expect(runs).toBe(1);
      streams.send({ type: 'MODIFIED', object: { metadata: { name: 'worker', uid: 'u', resourceVersion: '5' } } });
      await until(() => expect(runs).toBe(2), 'process');
    });
  });
});

describe('a watch that is down', () => {
  const MINUTE = 60_000;
  it.each<[string, number | undefined, string[]]>([
    ['is no problem while it is open', undefined, []],
    ['is no problem for a restart of the API server', 10 * MINUTE, []],
    ['is reported after five minutes', 6 * MINUTE, ['no changes of pools.example.io for 5 minutes: Error: refused']],
  ])('%s', (_, downSince, expected) => {
    const watch = { resource: pools, problem: new Error('refused'), downSince };
    expect(listLostWatches([watch], 11 * MINUTE)).toEqual(expected);
  });
});

describe('sharing', () => {
  const identify = (thing: object | undefined): number => (thing === undefined ? 0 : 1);
  const share = (source: Source): string => shareKey(source, identify);
  const project = (received: Stored<{ metadata: { name: string } }>) => received;

  it.each<[string, Source]>([
    ['another kind', { resource: nodes }],
    ['metadata only', { resource: pools, as: 'metadata' }],
    ['another namespace', { resource: pools, namespace: 'ns' }],
    ['another selector', { resource: pools, labelSelector: 'a=b' }],
    ['another projection', { resource: pools, project }],
  ])('%s is another watch', (_what, source) => {
    expect(share(source)).not.toBe(share({ resource: pools }));
  });

  it('different keys and indexes share a watch; indexes are combined', () => {
    const byName = () => ['a'];
    const byPool = () => ['b'];
    const one = { resource: nodes, indexes: { byName }, keysOf: () => [] };
    const other = { resource: nodes, indexes: { byName, byPool } };
    expect(share(one)).toBe(share(other));
    const merged = mergeIndexes(
      [
        { name: 'one', reads: [one] },
        { name: 'other', reads: [other] },
      ],
      share,
    );
    expect([...merged.values()]).toEqual([{ byName, byPool }]);
  });

  it('two functions under one name are refused', () => {
    const reads = (byName: () => string[]): Source[] => [{ resource: nodes, indexes: { byName } }];
    const clash = [
      { name: 'one', reads: reads(() => ['a']) },
      { name: 'other', reads: reads(() => ['b']) },
    ];
    expect(() => mergeIndexes(clash, share)).toThrow(/controller other: the index byName of nodes/);
  });
});
