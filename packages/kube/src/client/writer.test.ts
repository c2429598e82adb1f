import { describe, expect, it, vi } from 'vitest';
import { createClient } from './client.ts';
import { KubeError } from './errors.ts';
import type { Resource, Stored, KubeObject } from './resource.ts';
import type { Request, Transport } from './transport.ts';
import { anyVersion, createThrottle, createWriter, type LandedWrite, retryOnConflict, type Writer } from './writer.ts';

const pools: Resource = { group: 'example.io', version: 'v1', kind: 'Pool', plural: 'pools', namespaced: false };
const secrets: Resource = { group: '', version: 'v1', kind: 'Secret', plural: 'secrets', namespaced: true };

const pool: Stored<KubeObject> = { metadata: { name: 'worker', uid: 'u1', resourceVersion: '7' } };
const secret: Stored<KubeObject> = { metadata: { namespace: 'ns', name: 's', uid: 'u2', resourceVersion: '8' } };

/** A writer on a server that records requests and responds as the test specifies. */
function writerOn(answer: (request: Request) => unknown = () => pool) {
  const sent: Request[] = [];
  const landed: LandedWrite[] = [];
  const transport: Transport = {
    server: 'memory',
    json: async (request) => {
      await Promise.resolve();
      request.beforeSend?.();
      sent.push(request);
      return answer(request);
    },
    open: () => Promise.reject(new Error('nothing is listed here')),
    close: () => Promise.resolve(),
  };
  const client = createClient(transport);
  const writer = createWriter(client, { fieldManager: 'me', onWrite: (write) => landed.push(write) });
  return { sent, landed, writer, client };
}

const failing = (code: ConstructorParameters<typeof KubeError>[0]) => () => {
  throw new KubeError(code, 'no');
};

describe('a write', () => {
  const merge = 'application/merge-patch+json';
  const json = 'application/json-patch+json';
  const apply = 'application/apply-patch+yaml';
  const version = { uid: 'u1', resourceVersion: '7' };

  type Sent = Pick<Request, 'method' | 'path' | 'query' | 'contentType' | 'body'>;
  const cases: [string, (writer: Writer) => Promise<unknown>, Partial<Sent>][] = [
    [
      'a patch carries UID, version and field manager',
      (write) => write.patch(pools, pool, { spec: { paused: true } }),
      {
        method: 'PATCH',
        path: '/apis/example.io/v1/pools/worker',
        query: { fieldManager: 'me' },
        contentType: merge,
        body: { spec: { paused: true }, metadata: version },
      },
    ],
    [
      'what a patch says of metadata stays beside the precondition',
      (write) => write.patch(pools, pool, { metadata: { annotations: { a: null } } }),
      { body: { metadata: { annotations: { a: null }, ...version } } },
    ],
    [
      'an object of a namespace is found there',
      (write) => write.patch(secrets, secret, {}),
      { path: '/api/v1/namespaces/ns/secrets/s', body: { metadata: { uid: 'u2', resourceVersion: '8' } } },
    ],
    [
      'a status is a subresource',
      (write) => write.patchStatus(pools, pool, { ready: 1 }),
      {
        path: '/apis/example.io/v1/pools/worker/status',
        query: { fieldManager: 'me' },
        contentType: merge,
        body: { status: { ready: 1 }, metadata: version },
      },
    ],
    [
      'a patch can be of a subresource',
      (write) => write.patch(pools, pool, { spec: { replicas: 1 } }, { subresource: 'scale' }),
      { path: '/apis/example.io/v1/pools/worker/scale' },
    ],
    [
      'a JSON patch sets its precondition first',
      (write) => write.jsonPatch(pools, pool, [{ op: 'test', path: '/spec/a', value: 1 }], { subresource: 'status' }),
      {
        path: '/apis/example.io/v1/pools/worker/status',
        query: { fieldManager: 'me' },
        contentType: json,
        body: [
          { op: 'add', path: '/metadata/uid', value: 'u1' },
          { op: 'add', path: '/metadata/resourceVersion', value: '7' },
          { op: 'test', path: '/spec/a', value: 1 },
        ],
      },
    ],
    [
      'an apply sends the given fields on the version of the object',
      (write) => write.apply(pools, pool, { metadata: { name: 'worker', labels: { a: 'b' } } }, { force: true }),
      {
        method: 'PATCH',
        path: '/apis/example.io/v1/pools/worker',
        query: { fieldManager: 'me', force: 'true' },
        contentType: apply,
        body: {
          apiVersion: 'example.io/v1',
          kind: 'Pool',
          metadata: { name: 'worker', labels: { a: 'b' }, ...version },
        },
      },
    ],
    [
      'without force, what others have set is a conflict',
      (write) => write.apply(pools, anyVersion({ name: 'worker' }), { metadata: { name: 'worker' } }),
      {
        query: { fieldManager: 'me' },
        body: { apiVersion: 'example.io/v1', kind: 'Pool', metadata: { name: 'worker' } },
      },
    ],
    [
      'a create has a field manager and no precondition',
      (write) => write.create(secrets, { metadata: { namespace: 'ns', name: 's' } }),
      {
        method: 'POST',
        path: '/api/v1/namespaces/ns/secrets',
        query: { fieldManager: 'me' },
        body: { apiVersion: 'v1', kind: 'Secret', metadata: { namespace: 'ns', name: 's' } },
      },
    ],
    [
      'a removal carries UID and version',
      (write) => write.remove(pools, pool),
      { method: 'DELETE', body: { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: version } },
    ],
    [
      'any version of an object is meant with its UID alone',
      (write) => write.patch(pools, anyVersion(pool.metadata), {}),
      { body: { metadata: { uid: 'u1' } } },
    ],
    [
      'any object of a name is meant without a precondition',
      (write) => write.patch(pools, anyVersion({ name: 'worker' }), { metadata: { labels: {} } }),
      { path: '/apis/example.io/v1/pools/worker', body: { metadata: { labels: {} } } },
    ],
    [
      'options of a removal reach the server',
      (write) => write.remove(secrets, anyVersion({ namespace: 'ns', name: 's' }), { gracePeriodSeconds: 0 }),
      {
        path: '/api/v1/namespaces/ns/secrets/s',
        body: { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: {}, gracePeriodSeconds: 0 },
      },
    ],
  ];
  it.each(cases)('%s', async (_promise, write, expected) => {
    const { writer, sent } = writerOn();
    await write(writer);
    expect(sent).toEqual([expect.objectContaining(expected)]);
  });

  it('returns the stored object, and reports whether it is new', async () => {
    const stored = { metadata: { ...pool.metadata, resourceVersion: '9' } };
    const { writer, landed } = writerOn(() => stored);
    expect(await writer.patch(pools, pool, {})).toBe(stored);
    await writer.create(pools, { metadata: { name: 'worker' } });
    await writer.remove(pools, pool);
    expect(landed).toEqual([
      { type: 'changed', resource: pools, object: stored },
      { type: 'created', resource: pools, object: stored },
    ]);
  });

  it('that failed is not reported', async () => {
    const { writer, landed } = writerOn(failing('SLW_KUBE_CONFLICT'));
    await expect(writer.patch(pools, pool, {})).rejects.toMatchObject({ code: 'SLW_KUBE_CONFLICT' });
    expect(landed).toEqual([]);
  });

  it('is refused by the guards of the client', async () => {
    const { client, sent } = writerOn();
    const guarded = client.guarded(({ verb, precondition }) => {
      throw new Error(`${verb} ${JSON.stringify(precondition)}`);
    });
    const writer = createWriter(guarded, { fieldManager: 'me' });
    await expect(writer.patch(pools, pool, {})).rejects.toThrow('patch {"uid":"u1","resourceVersion":"7"}');
    await expect(writer.remove(pools, anyVersion(pool.metadata))).rejects.toThrow('delete {"uid":"u1"}');
    expect(sent).toEqual([]);
  });
});

describe('an object that exists', () => {
  it('is not changed by createIfAbsent', async () => {
    const { writer, landed } = writerOn(failing('SLW_KUBE_ALREADY_EXISTS'));
    expect(await writer.createIfAbsent(pools, { metadata: { name: 'worker' } })).toBeUndefined();
    await expect(writer.create(pools, { metadata: { name: 'worker' } })).rejects.toThrow('no');
    expect(landed).toEqual([]);
  });

  it('any other refusal of a creation is an error', async () => {
    const { writer } = writerOn(failing('SLW_KUBE_FORBIDDEN'));
    await expect(writer.createIfAbsent(pools, { metadata: { name: 'worker' } })).rejects.toThrow('no');
  });

  it('an absent object is created and returned', async () => {
    const { writer } = writerOn();
    expect(await writer.createIfAbsent(pools, { metadata: { name: 'worker' } })).toBe(pool);
  });
});

describe('a removal', () => {
  it.each([
    ['of an object that is gone is done', pool, 'SLW_KUBE_NOT_FOUND', true],
    ['of a version that is not the last one is a conflict', pool, 'SLW_KUBE_CONFLICT', false],
    ['of any version is done where another object has the name', anyVersion(pool.metadata), 'SLW_KUBE_CONFLICT', true],
    ['that the server refuses is an error', anyVersion(pool.metadata), 'SLW_KUBE_FORBIDDEN', false],
  ] as const)('%s', async (_promise, target, code, isDone) => {
    const { writer } = writerOn(failing(code));
    const ended = await writer.remove(pools, target).then(
      () => true,
      () => false,
    );
    expect(ended).toBe(isDone);
  });
});

describe('a throttled patch', () => {
  function throttled() {
    let now = 0;
    const clock = { now: () => now, setTimer: () => () => {} };
    const { client, sent } = writerOn();
    const waits: number[] = [];
    const writer = createWriter(client, {
      fieldManager: 'me',
      throttle: createThrottle(clock),
      onThrottled: (waitMs) => waits.push(waitMs),
    });
    const at = (time: number, minIntervalMs: number, object: Stored<KubeObject> = pool) => {
      now = time;
      return writer.patchThrottled(pools, object, { status: {} }, { subresource: 'status', minIntervalMs });
    };
    return { at, sent, waits };
  }

  it('is skipped too soon after the last one, and reports when it is due', async () => {
    const { at, sent, waits } = throttled();
    expect(await at(0, 1000)).toBe(pool);
    expect(await at(400, 1000)).toBeUndefined();
    expect(waits).toEqual([600]);
    expect(await at(1000, 1000)).toBe(pool);
    expect(sent.map(({ path }) => path)).toEqual(Array(2).fill('/apis/example.io/v1/pools/worker/status'));
  });

  it('that cannot wait is sent, and counts for those that can', async () => {
    const { at, waits } = throttled();
    await at(0, 1000);
    expect(await at(1, 0)).toBe(pool);
    expect(await at(900, 1000)).toBeUndefined();
    expect(waits).toEqual([101]);
  });

  it('of another object does not wait', async () => {
    const { at } = throttled();
    await at(0, 1000);
    expect(await at(1, 1000, { metadata: { name: 'infra', uid: 'u3', resourceVersion: '1' } })).toBe(pool);
  });

  it('that failed does not count', async () => {
    const { writer } = writerOn(vi.fn(() => pool).mockImplementationOnce(failing('SLW_KUBE_CONFLICT')));
    const options = { minIntervalMs: 60_000 };
    await expect(writer.patchThrottled(pools, pool, {}, options)).rejects.toThrow('no');
    expect(await writer.patchThrottled(pools, pool, {}, options)).toBe(pool);
  });
});

describe('work that is repeated on a conflict', () => {
  const conflict = new KubeError('SLW_KUBE_CONFLICT', 'another client was first');

  it('returns the result of the first attempt without one', async () => {
    const work = vi.fn<() => Promise<string>>().mockRejectedValueOnce(conflict).mockResolvedValueOnce('done');
    await expect(retryOnConflict(work)).resolves.toBe('done');
    expect(work).toHaveBeenCalledTimes(2);
  });

  it('is given up after the maximum of attempts', async () => {
    const work = vi.fn<() => Promise<string>>().mockRejectedValue(conflict);
    await expect(retryOnConflict(work, 3)).rejects.toBe(conflict);
    expect(work).toHaveBeenCalledTimes(3);
  });

  it('is not repeated after any other error', async () => {
    const work = vi.fn<() => Promise<string>>().mockRejectedValue(new KubeError('SLW_KUBE_NOT_FOUND', 'gone'));
    await expect(retryOnConflict(work)).rejects.toMatchObject({ code: 'SLW_KUBE_NOT_FOUND' });
    expect(work).toHaveBeenCalledTimes(1);
  });
});
