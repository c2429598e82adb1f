import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createClient } from '../client/client.ts';
import { KubeError } from '../client/errors.ts';
import type { KubeObject, Resource, Stored } from '../client/resource.ts';
import type { Request, Transport } from '../client/transport.ts';
import type { Informer } from '../watch/informer.ts';
import { type Change, createStore } from '../watch/store.ts';
import { createController, classifyError } from './controller.ts';
import { again, type Context, type ControllerDef, done, type Gates, type Next, type Source } from './controller-def.ts';
import { createRecorder } from './events.ts';
import { createLog } from './log.ts';
import { createMetrics } from './metrics.ts';

const pools: Resource = { group: 'example.io', version: 'v1', kind: 'Pool', plural: 'pools', namespaced: false };
const nodes: Resource = { group: '', version: 'v1', kind: 'Node', plural: 'nodes', namespaced: false };

const object = (name: string, version = '1', labels: Record<string, string> = {}): Stored<KubeObject> => ({
  metadata: { name, uid: `uid-${name}`, resourceVersion: version, labels },
});

/** A real store, filled by the test instead of by a watch. */
function filledByHand(resource: Resource, ...objects: Stored<KubeObject>[]) {
  const store = createStore();
  const listeners = new Set<(change: Change<KubeObject>) => void>();
  for (const each of objects) store.put(each);
  const followers = new Set<(key: string | undefined) => void>();
  const notify = (changes: Change<KubeObject>[], key: string): void => {
    for (const change of changes) for (const listener of listeners) listener(change);
    for (const follower of followers) follower(key);
  };
  const informer: Informer<KubeObject> = {
    resource,
    store,
    synced: Promise.resolve(),
    problem: undefined,
    downSince: undefined,
    version: undefined,
    start() {},
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    onProgress(listener) {
      followers.add(listener);
      return () => followers.delete(listener);
    },
  };
  return {
    informer,
    put: (each: Stored<KubeObject>) => notify(store.put(each), each.metadata.name),
    remove: (key: string) => notify(store.remove(key), key),
  };
}

const sentTo = (sent: string[], answer: (request: Request) => unknown = () => ({})): Transport => ({
  server: 'memory',
  json: async (request) => {
    await Promise.resolve();
    request.beforeSend?.();
    sent.push(`${request.method} ${request.path}`);
    return answer(request);
  },
  open: () => Promise.reject(new Error('no watches here')),
  close: () => Promise.resolve(),
});

interface SetUpOptions {
  answer?: (request: Request) => unknown;
  gates?: Gates;
}

function setUp(
  def: Partial<ControllerDef>,
  informers: { resource: Resource; informer: Informer<KubeObject> }[] = [],
  { answer, gates }: SetUpOptions = {},
) {
  const lines: string[] = [];
  const sent: string[] = [];
  const client = createClient(sentTo(sent, answer));
  const log = createLog({ pretty: false, level: 'debug', write: (line) => lines.push(line) });
  const metrics = createMetrics();
  const full: ControllerDef = { name: 'test', reads: [], owns: [], reconcile: () => Promise.resolve(done()), ...def };
  const controller = createController(full, {
    client,
    log,
    metrics,
    gates,
    events: createRecorder(client, { component: 'test', log }),
    informerOf: (source) => {
      const found = informers.find(({ resource }) => resource === source.resource);
      if (found === undefined) throw new Error('no such informer');
      return found.informer;
    },
  });
  const levels = (): string[] => lines.map((line) => (JSON.parse(line) as { level: string }).level);
  return { controller, metrics, lines, levels, sent };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());
/** Lets everything that awaits only a resolved promise continue. */
const settle = () => vi.advanceTimersByTimeAsync(0);

describe('which keys are reconciled', () => {
  const record = (keys: string[]) => (key: string) => {
    keys.push(key);
    return Promise.resolve(done());
  };

  it('all existing objects at the start, then changed and deleted ones', async () => {
    const source = filledByHand(pools, object('a'), object('b'));
    const keys: string[] = [];
    const { controller } = setUp({ reads: [{ resource: pools }], reconcile: record(keys) }, [
      { resource: pools, ...source },
    ]);
    controller.start();
    await settle();
    source.put(object('b', '2'));
    source.put(object('c'));
    source.remove('a');
    await settle();
    expect(keys).toEqual(['a', 'b', 'b', 'c', 'a']);
  });

  it('initial keys are reconciled even if nothing exists yet', async () => {
    const keys: string[] = [];
    const def = { reads: [{ resource: pools }], startsWith: ['all'], reconcile: record(keys) };
    setUp(def, [{ resource: pools, ...filledByHand(pools) }]).controller.start();
    await settle();
    expect(keys).toEqual(['all']);
  });

  it('an external trigger reconciles a key, until the controller stops', async () => {
    const keys: string[] = [];
    let wake: ((key: string) => void) | undefined;
    const listen = (heard: (key: string) => void) => {
      wake = heard;
      return () => keys.push('no longer listens');
    };
    const def = { reads: [], listen, reconcile: record(keys) };
    const { controller } = setUp(def);
    controller.start();
    wake?.('outside');
    await settle();
    await controller.stop(1000);
    expect(keys).toEqual(['outside', 'no longer listens']);
  });

  it('keysOf maps an object to other keys, for both the old and the new state', async () => {
    const source = filledByHand(nodes, object('n1', '1', { pool: 'worker' }));
    const keys: string[] = [];
    const read: Source = { resource: nodes, keysOf: ({ metadata }) => [metadata.labels?.['pool'] ?? 'none'] };
    const { controller } = setUp({ reads: [read], reconcile: record(keys) }, [{ resource: nodes, ...source }]);
    controller.start();
    await settle();
    source.put(object('n1', '2', { pool: 'infra' }));
    await settle();
    expect(keys).toEqual(['worker', 'worker', 'infra']);
  });

  it('an update that does not concern them triggers nothing; a new or deleted object always does', async () => {
    const source = filledByHand(nodes, object('n1', '1', { pool: 'worker' }));
    const keys: string[] = [];
    const poolOf = ({ metadata }: Stored<KubeObject>) => metadata.labels?.['pool'] ?? '';
    const read: Source = {
      resource: nodes,
      keysOf: (node) => [poolOf(node)],
      concerns: (before, after) => poolOf(before) !== poolOf(after),
    };
    const { controller } = setUp({ reads: [read], reconcile: record(keys) }, [{ resource: nodes, ...source }]);
    controller.start();
    await settle();
    source.put(object('n1', '2', { pool: 'worker', zone: 'a' }));
    await settle();
    expect(keys).toEqual(['worker']);
    source.put(object('n1', '3', { pool: 'infra', zone: 'a' }));
    await settle();
    source.put(object('n2', '1', { pool: 'gpu' }));
    source.remove('n1');
    await settle();
    expect(keys).toEqual(['worker', 'worker', 'infra', 'gpu', 'infra']);
  });

  it('a source that is only read triggers nothing, and can be read', async () => {
    const [poolSource, nodeSource] = [
      filledByHand(pools, object('a')),
      filledByHand(nodes, object('n1'), object('n2')),
    ];
    let seen = 0;
    const { controller } = setUp(
      {
        reads: [{ resource: pools }, { resource: nodes, keysOf: () => [] }],
        reconcile: (_key, { read }) => {
          seen += read(nodes).size;
          return Promise.resolve(done());
        },
      },
      [
        { resource: pools, ...poolSource },
        { resource: nodes, ...nodeSource },
      ],
    );
    controller.start();
    nodeSource.put(object('n3'));
    await settle();
    expect(seen).toBe(3);
  });

  it.each<[string, Partial<Source>, string[]]>([
    ['a keysOf', { keysOf: ({ metadata }) => [failOnBad(metadata)] }, ['good', 'good']],
    ['a concerns', { concerns: (_, { metadata }) => failOnBad(metadata) === '' }, ['bad', 'good', 'bad']],
  ])('%s that throws is counted, and everything else continues', async (_what, part, expected) => {
    const source = filledByHand(pools);
    const keys: string[] = [];
    const { controller, levels } = setUp({ reads: [{ resource: pools, ...part }], reconcile: record(keys) }, [
      { resource: pools, ...source },
    ]);
    controller.start();
    for (const version of ['1', '2']) {
      source.put(object('bad', version));
      source.put(object('good', version));
      await settle();
    }
    expect(keys).toEqual(expected);
    expect(new Set(levels())).toEqual(new Set(['error']));
  });
});

function failOnBad({ name }: KubeObject['metadata']): string {
  if (name === 'bad') throw new TypeError('oops');
  return name;
}

/** A controller of one key whose runs the test defines. */
function oneKey(
  reconcile: (context: Context, run: number) => Promise<Next>,
  def: Partial<ControllerDef> = {},
  surroundings: SetUpOptions = {},
) {
  let runs = 0;
  const source = filledByHand(pools, object('a'));
  const parts = setUp(
    {
      reads: [{ resource: pools }],
      ...def,
      reconcile: (_key, context) => {
        runs += 1;
        return reconcile(context, runs);
      },
    },
    [{ resource: pools, ...source }],
    surroundings,
  );
  parts.controller.start();
  return { ...parts, source, runs: () => runs };
}

describe('after a run', () => {
  it('again(ms) requeues the key for that time', async () => {
    const { runs } = oneKey((_context, run) => Promise.resolve(run === 1 ? again(60_000) : done()));
    await vi.advanceTimersByTimeAsync(59_999);
    expect(runs()).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(runs()).toBe(2);
  });

  it('a bug is logged with its stack, counted, and retried with backoff', async () => {
    const { runs, lines, metrics } = oneKey((_context, run) =>
      run <= 2 ? Promise.reject(new TypeError('oops')) : Promise.resolve(done()),
    );
    await vi.advanceTimersByTimeAsync(1000);
    expect(runs()).toBe(3);
    expect(lines.length).toBe(2);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      level: 'error',
      controller: 'test',
      key: 'a',
      err: { stack: expect.stringContaining('controller.test.ts') },
    });
    expect(await metrics.registry.metrics()).toContain(
      'slipway_reconcile_errors_total{controller="test",code="BUG"} 2',
    );
  });

  it('the next run knows that a write may have taken effect, until one succeeds', async () => {
    const unsure: boolean[] = [];
    const { source } = oneKey((context, run) => {
      unsure.push(context.unsure);
      if (run === 1) return Promise.reject(new KubeError('SLW_KUBE_OUTCOME_UNKNOWN', 'no answer'));
      if (run === 2) return Promise.reject(new KubeError('SLW_KUBE_SERVER', 'down'));
      return Promise.resolve(done());
    });
    await vi.advanceTimersByTimeAsync(1000);
    source.put(object('a', '2'));
    await settle();
    expect(unsure).toEqual([false, true, true, false]);
  });

  const cases: [string, unknown, ReturnType<typeof classifyError>][] = [
    [
      'a conflict is tried again soon, without noise',
      new KubeError('SLW_KUBE_CONFLICT', ''),
      { result: 'conflict', outcome: { type: 'retry', atMostMs: 1000 }, level: 'debug' },
    ],
    [
      'who does not lead stops without noise',
      new KubeError('SLW_KUBE_NOT_LEADER', ''),
      { result: 'stopped', outcome: { type: 'retry' }, level: 'debug' },
    ],
    [
      'a server that says when to come back is obeyed',
      new KubeError('SLW_KUBE_THROTTLED', '', { retryAfterMs: 7000 }),
      { result: 'error', outcome: { type: 'retry', atLeastMs: 7000 }, level: 'warn', code: 'SLW_KUBE_THROTTLED' },
    ],
    [
      'a write without an answer leaves the next run unsure',
      new KubeError('SLW_KUBE_OUTCOME_UNKNOWN', ''),
      { result: 'error', outcome: { type: 'retry' }, level: 'warn', code: 'SLW_KUBE_OUTCOME_UNKNOWN', unsure: true },
    ],
    [
      'an error of another package of ours is expected too',
      Object.assign(new Error(''), { code: 'SLW_REGISTRY_DENIED' }),
      { result: 'error', outcome: { type: 'retry' }, level: 'warn', code: 'SLW_REGISTRY_DENIED' },
    ],
    [
      'a write of what is not owned is a bug',
      new KubeError('SLW_KUBE_NOT_OWNED', ''),
      { result: 'bug', outcome: { type: 'retry' }, level: 'error', code: 'BUG' },
    ],
    [
      'so is a write without a precondition',
      new KubeError('SLW_KUBE_NO_PRECONDITION', ''),
      { result: 'bug', outcome: { type: 'retry' }, level: 'error', code: 'BUG' },
    ],
    ['and whatever else is thrown', 'text', { result: 'bug', outcome: { type: 'retry' }, level: 'error', code: 'BUG' }],
  ];
  it.each(cases)('%s', (_promise, error, verdict) => {
    expect(classifyError(error)).toMatchObject({ ...verdict, error });
  });
});

describe('what a reconcile may do', () => {
  it('writes what it owns, part by part, and nothing else', async () => {
    const results: string[] = [];
    const attempt = async (what: string, write: Promise<unknown>): Promise<void> => {
      const result = await write.then(
        () => 'sent',
        (error: unknown) => (error instanceof KubeError ? error.code : 'other'),
      );
      results.push(`${what}: ${result}`);
    };
    const precondition = { resourceVersion: '1' };
    const { sent } = oneKey(
      async ({ client }) => {
        const patch = { type: 'merge', body: {} } as const;
        await attempt('own', client.patch(pools, { name: 'a' }, patch, precondition));
        await attempt('status', client.patch(pools, { name: 'a' }, patch, precondition, { subresource: 'status' }));
        await attempt('node', client.patch(nodes, { name: 'n' }, patch, precondition));
        await attempt(
          'node status',
          client.patch(nodes, { name: 'n' }, patch, precondition, { subresource: 'status' }),
        );
        await attempt('evict', client.evict({ name: 'p', namespace: 'ns' }, { uid: 'u' }));
        await attempt('read', client.get(nodes, { name: 'n' }));
        return done();
      },
      {
        owns: [
          { resource: pools },
          { resource: nodes, subresource: 'status' },
          { resource: { ...nodes, kind: 'Pod', plural: 'pods' }, subresource: 'eviction' },
        ],
      },
    );
    await settle();
    expect(results).toEqual([
      'own: sent',
      'status: SLW_KUBE_NOT_OWNED',
      'node: SLW_KUBE_NOT_OWNED',
      'node status: sent',
      'evict: sent',
      'read: sent',
    ]);
    expect(sent.length).toBe(4);
  });

  it('reads what it declares, and nothing else', async () => {
    let found: unknown;
    oneKey(({ read }) => {
      try {
        read(nodes);
      } catch (error) {
        found = error;
      }
      return Promise.resolve(done());
    });
    await settle();
    expect(String(found)).toContain(
      'controller test reads nodes: expected exactly one matching source in its reads, found 0',
    );
  });
});

describe('time', () => {
  const untilAborted = ({ signal }: Context): Promise<never> =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason));
    });

  it('a reconcile over its time limit is aborted, can no longer write, and is retried', async () => {
    let late: unknown;
    const { runs, levels, sent } = oneKey(
      async (context, run) => {
        if (run > 1) return done();
        await untilAborted(context).catch(() => {});
        late = await context.client.create(pools, { metadata: { name: 'x' } }).catch((error: unknown) => error);
        return done();
      },
      { timeLimitMs: 1000, owns: [{ resource: pools }] },
    );
    await vi.advanceTimersByTimeAsync(999);
    expect(levels()).toEqual([]);
    await vi.advanceTimersByTimeAsync(100);
    expect(levels()).toEqual(['error']);
    expect(String(late)).toContain('reconcile exceeded its time limit of 1000 ms');
    expect(sent).toEqual([]);
    expect(runs()).toBe(2);
  });

  it('one that does not end even then never runs concurrently with itself, and is reported as stuck', async () => {
    const { runs, controller } = oneKey(() => new Promise(() => {}), { timeLimitMs: 1000 });
    await vi.advanceTimersByTimeAsync(1999);
    expect(controller.stuck()).toEqual([]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(controller.stuck()).toEqual(['a']);
    expect(runs()).toBe(1);
  });

  it('a stop waits for running reconciles, and aborts them after the bound', async () => {
    const { controller, source, runs, levels } = oneKey(untilAborted);
    await settle();
    let ended = false;
    const stop = controller.stop(20_000).then(() => (ended = true));
    source.put(object('a', '2'));
    await vi.advanceTimersByTimeAsync(19_999);
    expect(ended).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    await stop;
    await vi.advanceTimersByTimeAsync(1_000_000);
    expect(runs()).toBe(1);
    expect(levels()).toEqual([]);
  });

  it('a run that ends after leadership was lost ends before what it used is closed', async () => {
    const steps: string[] = [];
    const write = Promise.withResolvers<void>();
    const { controller } = setUp({
      startsWith: ['a'],
      listen: () => () => steps.push('closed'),
      async reconcile() {
        await write.promise;
        steps.push('measured');
        return done();
      },
    });
    controller.start();
    await settle();
    controller.abort(new KubeError('SLW_KUBE_NOT_LEADER', 'lost'));
    write.resolve();
    await controller.stop(20_000);
    expect(steps).toEqual(['measured', 'closed']);
  });

  it('lost leadership stops everything immediately, without error logs', async () => {
    const { controller, runs, levels } = oneKey(untilAborted);
    await settle();
    controller.abort(new KubeError('SLW_KUBE_NOT_LEADER', 'lost'));
    await controller.stop(20_000);
    await vi.advanceTimersByTimeAsync(1_000_000);
    expect(runs()).toBe(1);
    expect(levels()).toEqual([]);
  });
});

describe('what a controller writes', () => {
  const owns = [{ resource: pools }, { resource: pools, subresource: 'status' }];

  it.each([
    ['the controller', {}, 'slipway-test'],
    ['its field manager, where it has one', { fieldManager: 'somebody' }, 'somebody'],
  ])('is in the name of %s', async (_promise, def, expected) => {
    const managers: unknown[] = [];
    const answer = ({ query }: Request): unknown => {
      managers.push(query?.['fieldManager']);
      return object('a', '2');
    };
    const reconcile = async ({ write }: Context): Promise<Next> => {
      await write.patch(pools, object('a'), {});
      return done();
    };
    oneKey(reconcile, { owns, ...def }, { answer });
    await settle();
    expect(managers).toEqual([expected]);
  });

  it('is refused if the run first uses its client or writer after it was aborted', async () => {
    const refused: unknown[] = [];
    const { controller, sent } = oneKey(
      async (context) => {
        await new Promise((resolve) => context.signal.addEventListener('abort', resolve));
        await context.write.patch(pools, object('a'), {}).catch((error: unknown) => refused.push(error));
        await context.client.delete(pools, { name: 'a' }, {}).catch((error: unknown) => refused.push(error));
        return done();
      },
      { owns },
    );
    await settle();
    controller.abort(new KubeError('SLW_KUBE_NOT_LEADER', 'lost'));
    await controller.stop(20_000);
    expect(refused.map(String)).toEqual([expect.stringContaining('lost'), expect.stringContaining('lost')]);
    expect(sent).toEqual([]);
  });

  it('is refused if it is not owned, and once the run is aborted', async () => {
    const refused: unknown[] = [];
    const { sent } = oneKey(
      async ({ write, signal }, run) => {
        if (run > 1) return done();
        await write.patch(nodes, object('n'), {}).catch((error: unknown) => refused.push(error));
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        await write.remove(pools, object('a')).catch((error: unknown) => refused.push(error));
        return done();
      },
      { owns, timeLimitMs: 1000 },
    );
    await vi.advanceTimersByTimeAsync(2000);
    expect(refused.map(String)).toEqual([
      expect.stringContaining('nodes is not in its owns'),
      expect.stringContaining('reconcile exceeded its time limit of 1000 ms'),
    ]);
    expect(sent).toEqual([]);
  });

  it('is visible in the stores before its key runs again', async () => {
    const seen: (string | undefined)[] = [];
    const { source, runs } = oneKey(
      async ({ read, write }, run) => {
        seen.push(read(pools).get('a')?.metadata.resourceVersion);
        if (run === 1) await write.patch(pools, object('a'), {});
        return done();
      },
      { owns },
      { answer: () => object('a', '5') },
    );
    await settle();
    source.put(object('a', '3'));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(runs()).toBe(1);
    source.put(object('a', '5'));
    await settle();
    expect(seen).toEqual(['1', '5']);
  });

  it('requeues a held key, even if the write triggers no event', async () => {
    const { source, runs } = oneKey(
      async ({ write }, run) => {
        if (run === 1) await write.patchStatus(pools, object('a'), {});
        return done();
      },
      {
        owns,
        startsWith: ['a'],
        reads: [{ resource: pools, keysOf: ({ metadata }) => (metadata.name === 'b' ? ['a'] : []) }],
      },
      { answer: () => object('a', '5') },
    );
    await settle();
    source.put(object('b', '4'));
    await settle();
    expect(runs()).toBe(1);
    source.put(object('a', '5'));
    await settle();
    expect(runs()).toBe(2);
  });

  it.each([
    ['holds up its key alone', {}, ['a', 'b', 'b'], ['a', 'a', 'b', 'b']],
    [
      'holds up all keys of a controller that waits for all',
      { waitsForWritesOf: 'all' as const },
      ['a'],
      ['a', 'a', 'b'],
    ],
  ])('%s', async (_promise, def, whileHeld, afterwards) => {
    const keys: string[] = [];
    const source = filledByHand(pools, object('a'), object('b'));
    const reconcile: ControllerDef['reconcile'] = async (key, { write }) => {
      keys.push(key);
      if (keys.length === 1) await write.patch(pools, object('a'), {});
      return done();
    };
    const { controller } = setUp(
      { reads: [{ resource: pools }], owns, ...def, reconcile },
      [{ resource: pools, ...source }],
      { answer: () => object('a', '9') },
    );
    controller.start();
    await settle();
    for (const name of ['a', 'b']) source.put(object(name, '2'));
    await settle();
    expect(keys).toEqual(whileHeld);
    source.put(object('a', '9'));
    await settle();
    expect(keys.toSorted()).toEqual(afterwards);
  });

  it('does not reset the backoff of a run that then fails', async () => {
    const { runs, source } = oneKey(
      async ({ write }, run) => {
        await write.patch(pools, object('a'), {});
        if (run < 3) throw new KubeError('SLW_KUBE_SERVER', 'down');
        return done();
      },
      { owns },
      { answer: () => object('a', '5') },
    );
    await vi.advanceTimersByTimeAsync(10_000);
    expect(runs()).toBe(1);
    source.put(object('a', '5'));
    await vi.advanceTimersByTimeAsync(1000);
    expect(runs()).toBe(3);
  });

  it('too often is deferred, and the key is requeued for then', async () => {
    const patched: (number | undefined)[] = [];
    const start = Date.now();
    const { source } = oneKey(
      async ({ write }, run) => {
        const body = { status: { run } };
        const options = { subresource: 'status', minIntervalMs: run === 3 ? 0 : 1000 } as const;
        const written = await write.patchThrottled(pools, object('a', '1'), body, options);
        patched.push(written === undefined ? undefined : Date.now() - start);
        return run === 2 ? again(60_000) : done();
      },
      { owns },
      { answer: () => object('a', '1') },
    );
    await settle();
    source.put(object('a', '2'));
    await settle();
    source.put(object('a', '3'));
    await settle();
    source.put(object('a', '4'));
    await vi.advanceTimersByTimeAsync(5000);
    expect(patched).toEqual([0, undefined, 0, undefined, 1000]);
  });
});

describe('how often a key runs', () => {
  /** The start times of runs, while something changes at these times. */
  async function recordRunTimes(def: Partial<ControllerDef>, changes: readonly number[]): Promise<number[]> {
    const start = Date.now();
    const times: number[] = [];
    const { source } = oneKey(() => {
      times.push(Date.now() - start);
      return Promise.resolve(done());
    }, def);
    await settle();
    for (const [index, at] of changes.entries()) {
      await vi.advanceTimersByTimeAsync(at - (changes[index - 1] ?? 0));
      source.put(object('a', String(index + 2)));
    }
    await vi.advanceTimersByTimeAsync(60_000);
    return times;
  }

  it.each<[string, Partial<ControllerDef>, number[], number[]]>([
    ['at every change', {}, [100, 200], [0, 100, 200]],
    ['once for a burst, when it is over', { settleMs: 250 }, [100, 200, 300], [0, 550]],
    ['in a burst without end after twelve times its wait', { settleMs: 10 }, fromTo(5, 200, 5), [0, 125, 210]],
    [
      'at once for what comes in no bursts',
      { settleMs: 250, reads: [{ resource: pools, settles: false }] },
      [100],
      [0, 100],
    ],
    ['at intervals', { minIntervalMs: 500 }, [100, 200, 700], [0, 500, 1000]],
    ['as its own interval says', { minIntervalMs: (_, read) => 100 * read(pools).size }, [50, 60], [0, 100]],
    ['as its own wait says', { settleMs: (key) => (key === 'a' ? 0 : 1000) }, [100], [0, 100]],
  ])('%s', async (_promise, def, changes, expected) => {
    expect(await recordRunTimes(def, changes)).toEqual(expected);
  });

  it('a burst in one source delays the key, whatever else changes', async () => {
    const [poolSource, nodeSource] = [filledByHand(pools), filledByHand(nodes)];
    const times: number[] = [];
    const start = Date.now();
    const { controller } = setUp(
      {
        settleMs: 250,
        reads: [
          { resource: pools, keysOf: () => ['all'] },
          { resource: nodes, keysOf: () => ['all'], settles: false },
        ],
        reconcile: () => {
          times.push(Date.now() - start);
          return Promise.resolve(done());
        },
      },
      [
        { resource: pools, ...poolSource },
        { resource: nodes, ...nodeSource },
      ],
    );
    controller.start();
    poolSource.put(object('a'));
    await vi.advanceTimersByTimeAsync(200);
    nodeSource.put(object('n'));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(times).toEqual([250]);
  });

  it('an interval function that throws is a bug like any other', async () => {
    const { runs, levels } = oneKey(() => Promise.resolve(done()), {
      minIntervalMs: () => {
        throw new TypeError('oops');
      },
    });
    await settle();
    expect(runs()).toBe(0);
    expect(levels()).toEqual(['error']);
  });
});

function fromTo(first: number, last: number, step: number): number[] {
  return Array.from({ length: (last - first) / step + 1 }, (_, index) => first + index * step);
}

describe('gates that a controller depends on', () => {
  it('a change of one of them requeues all keys; other gates do not', async () => {
    const on = new Set<string>();
    const listeners = new Set<() => void>();
    const turn = (gate: string): void => {
      if (!on.delete(gate)) on.add(gate);
      for (const listener of listeners) listener();
    };
    const gates: Gates = {
      isOn: (gate) => on.has(gate),
      onChange(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    };
    const keys: string[] = [];
    const source = filledByHand(pools, object('a'), object('b'));
    const def: Partial<ControllerDef> = {
      reads: [{ resource: pools }],
      dependsOnGates: ['Streams', 'Pins'],
      startsWith: ['all'],
      reconcile: (key) => {
        keys.push(key);
        return Promise.resolve(done());
      },
    };
    const { controller } = setUp(def, [{ resource: pools, ...source }], { gates });
    controller.start();
    const runsAfter = async (gate: string): Promise<string[]> => {
      keys.length = 0;
      turn(gate);
      await settle();
      return keys.toSorted();
    };
    await settle();
    expect(await runsAfter('Streams')).toEqual(['a', 'all', 'b']);
    expect(await runsAfter('Other')).toEqual([]);
    expect(await runsAfter('Pins')).toEqual(['a', 'all', 'b']);
    expect(await runsAfter('Streams')).toEqual(['a', 'all', 'b']);
    await controller.stop(1000);
    expect(listeners.size).toBe(0);
  });
});
