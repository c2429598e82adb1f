import { describe, expect, it } from 'vitest';
import { createClient } from '../client/client.ts';
import { KubeError } from '../client/errors.ts';
import type { KubeObject, Resource } from '../client/resource.ts';
import type { Request, Transport } from '../client/transport.ts';
import {
  aggregate,
  createRecorder,
  type EventAction,
  type EventInput,
  type ObjectEvents,
  type Series,
} from './events.ts';
import { silentLog } from './log.ts';
import { createMetrics } from './metrics.ts';

const MINUTE = 60_000;
const warning = (message: string, reason = 'Failed'): EventInput => ({ type: 'Warning', reason, message });

/** Feeds events one after another; each is a time and an event. */
function feed(happenings: readonly (readonly [at: number, happening: EventInput])[]) {
  let state: ObjectEvents | undefined;
  let names = 0;
  const actions: EventAction[] = [];
  let series: Series | undefined;
  for (const [at, happening] of happenings) {
    const step = aggregate(state, happening, at, () => `event-${(names += 1)}`);
    ({ state, series } = step);
    actions.push(step.action);
  }
  return { actions, last: series, state };
}
const times = <T>(count: number, make: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));

describe('aggregate', () => {
  it('repetitions within ten minutes are one event with a growing count', () => {
    const { actions, last } = feed([
      [0, warning('no space')],
      [5 * MINUTE, warning('no space')],
      [14 * MINUTE, warning('no space')],
    ]);
    expect(actions).toEqual(['create', 'update', 'update']);
    expect(last).toMatchObject({ name: 'event-1', count: 3, first: 0, last: 14 * MINUTE });
  });

  it('after ten quiet minutes it is a new event', () => {
    const { actions, last } = feed([
      [0, warning('no space')],
      [10 * MINUTE, warning('no space')],
    ]);
    expect(actions).toEqual(['create', 'create']);
    expect(last).toMatchObject({ name: 'event-2', count: 1 });
  });

  it.each([
    ['another message', warning('no time')],
    ['another reason', warning('no space', 'Stopped')],
    ['another type', { ...warning('no space'), type: 'Normal' as const }],
  ])('%s is another event', (_what, other) => {
    expect(
      feed([
        [0, warning('no space')],
        [1, other],
      ]).actions,
    ).toEqual(['create', 'create']);
  });

  it('more than ten messages for one reason become one event with the latest', () => {
    const { actions, last } = feed(times(13, (at) => [at, warning(`try ${at}`)] as const));
    expect(actions.slice(0, 11)).toEqual(times(11, () => 'create'));
    expect(actions.slice(11)).toEqual(['update', 'update']);
    expect(last).toMatchObject({
      combined: true,
      count: 3,
      message: 'Several events like this one, the latest: try 12',
    });
  });

  it('without a free write counting continues, and the next write includes it', () => {
    const flood = times(30, () => [0, warning('no space')] as const);
    const { actions, last } = feed([...flood, [MINUTE, warning('no space')]]);
    expect(actions.slice(0, 25)).not.toContain('count');
    expect(actions.slice(25)).toEqual([...times(5, () => 'count'), 'update']);
    expect(last?.count).toBe(31);
  });

  it('without a free write new events are dropped', () => {
    const reasons = times(27, (at) => [0, warning('x', `Reason${at}`)] as const);
    expect(feed(reasons).actions.slice(24)).toEqual(['create', 'drop', 'drop']);
  });

  it('the history of one object is bounded', () => {
    const slow = times(100, (at) => [at * MINUTE, warning('x', `Reason${at}`)] as const);
    expect(feed(slow).state?.series.length).toBeLessThanOrEqual(40);
  });

  it('a message is cut to the API’s limit in bytes, between characters', () => {
    const { last } = feed([[0, warning('é'.repeat(600))]]);
    expect(Buffer.byteLength(last?.message ?? '')).toBeLessThanOrEqual(1024);
    expect(last?.message).toMatch(/^é+…$/);
    expect(
      feed([
        [0, warning('é'.repeat(600))],
        [1, warning('é'.repeat(600))],
      ]).actions,
    ).toEqual(['create', 'update']);
  });
});

const pools: Resource = { group: 'example.io', version: 'v1', kind: 'Pool', plural: 'pools', namespaced: false };
const pool = (name = 'worker'): KubeObject => ({ metadata: { name, uid: `uid-${name}`, resourceVersion: '7' } });

/** A server that stores what it receives; `answer` may fail or wait. */
function eventServer(answer: (request: Request) => Promise<unknown> = () => Promise.resolve({})) {
  const requests: Request[] = [];
  const transport: Transport = {
    server: 'memory',
    json: (request) => {
      requests.push(request);
      return answer(request);
    },
    open: () => Promise.reject(new Error('no watches here')),
    close: () => Promise.resolve(),
  };
  const metrics = createMetrics();
  const recorder = createRecorder(createClient(transport), { component: 'test', log: silentLog(), metrics });
  const counted = async (result: string): Promise<number> =>
    (await metrics.events.get()).values.find(({ labels }) => labels.result === result)?.value ?? 0;
  return { recorder, requests, counted };
}

describe('a recorder', () => {
  it('writes an Event that kubectl shows with its object', async () => {
    const { recorder, requests } = eventServer();
    recorder.record(pools, pool(), warning('no space'));
    await recorder.flush();
    expect(requests[0]).toMatchObject({
      method: 'POST',
      path: '/api/v1/namespaces/default/events',
      body: {
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { name: expect.stringMatching(/^worker\.[0-9a-f]{16}$/), namespace: 'default' },
        involvedObject: { apiVersion: 'example.io/v1', kind: 'Pool', name: 'worker', uid: 'uid-worker' },
        type: 'Warning',
        reason: 'Failed',
        message: 'no space',
        count: 1,
        firstTimestamp: expect.stringMatching(/^\d{4}-.*:\d\dZ$/),
        reportingComponent: 'test',
      },
    });
  });

  it('repetitions before the write are combined, later ones change the count', async () => {
    const { recorder, requests } = eventServer();
    for (let each = 0; each < 3; each += 1) recorder.record(pools, pool(), warning('no space'));
    await recorder.flush();
    recorder.record(pools, pool(), warning('no space'));
    await recorder.flush();
    expect(requests.map(({ method, body }) => [method, body])).toEqual([
      ['POST', expect.objectContaining({ count: 3 })],
      ['PATCH', expect.objectContaining({ count: 4 })],
    ]);
  });

  it('an Event that the server has deleted is created again', async () => {
    const { recorder, requests } = eventServer((request) =>
      request.method === 'PATCH' ? Promise.reject(new KubeError('SLW_KUBE_NOT_FOUND', 'gone')) : Promise.resolve({}),
    );
    for (let each = 0; each < 2; each += 1) {
      recorder.record(pools, pool(), warning('no space'));
      await recorder.flush();
    }
    expect(requests.map(({ method }) => method)).toEqual(['POST', 'PATCH', 'POST']);
    expect(requests[2]?.body).toMatchObject({ count: 2 });
  });

  it('a server that fails or never responds does not delay the reconcile', async () => {
    const failing = eventServer(() => Promise.reject(new KubeError('SLW_KUBE_SERVER', 'down')));
    failing.recorder.record(pools, pool(), warning('no space'));
    await failing.recorder.flush();
    expect(await failing.counted('failed')).toBe(1);

    const silent = eventServer(() => new Promise(() => {}));
    for (let each = 0; each < 1500; each += 1) silent.recorder.record(pools, pool(`p${each}`), warning('no space'));
    await silent.recorder.flush(10);
    expect(await silent.counted('dropped')).toBeGreaterThanOrEqual(499);
  });

  it('names that are not DNS names are converted', async () => {
    const { recorder, requests } = eventServer();
    recorder.record(pools, pool('system:Node_1:'), warning('x'));
    await recorder.flush();
    expect(requests[0]?.body).toMatchObject({
      metadata: { name: expect.stringMatching(/^system-node-1\.[0-9a-f]+$/) },
    });
  });
});
