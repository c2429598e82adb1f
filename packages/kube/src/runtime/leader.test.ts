import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Client, createClient, type Precondition } from '../client/client.ts';
import { isKubeError, KubeError } from '../client/errors.ts';
import type { Resource, Stored } from '../client/resource.ts';
import type { Request, Transport } from '../client/transport.ts';
import {
  createElection,
  type Election,
  fence,
  type Lease,
  type LeaseStep,
  nextLeaseStep,
  type ObservedLease,
} from './leader.ts';
import { silentLog } from './log.ts';

const buildLease = (holder: string | undefined, version: string, seconds?: number): Stored<Lease> => ({
  metadata: { name: 'lock', namespace: 'ns', uid: 'u', resourceVersion: version },
  spec: {
    ...(holder === undefined ? {} : { holderIdentity: holder }),
    ...(seconds === undefined ? {} : { leaseDurationSeconds: seconds }),
    // A clock far ahead, and one far behind: both are ignored.
    renewTime: '2099-01-01T00:00:00.000000Z',
    acquireTime: '1999-01-01T00:00:00.000000Z',
  },
});

describe('nextLeaseStep', () => {
  const seen = (version: string, since: number, held = false): ObservedLease => ({ version, since, held });
  const now = 100_000;
  const cases: { promise: string; lease: Stored<Lease> | undefined; observed?: ObservedLease; step: LeaseStep }[] = [
    { promise: 'no lease is there for the taking', lease: undefined, step: { type: 'acquire' } },
    { promise: 'so is one that was given back', lease: buildLease('', '1', 1), step: { type: 'acquire' } },
    { promise: 'or that never had a holder', lease: buildLease(undefined, '1'), step: { type: 'acquire' } },
    {
      promise: 'our own is renewed',
      lease: buildLease('me', '5', 15),
      observed: seen('5', 0, true),
      step: { type: 'renew' },
    },
    {
      promise: 'our own is renewed even where we do not know that our write landed',
      lease: buildLease('me', '6', 15),
      observed: seen('5', 0),
      step: { type: 'renew' },
    },
    {
      promise: 'one seen for the first time is not expired, however old its times are',
      lease: buildLease('other', '5', 15),
      step: { type: 'wait', ms: 15_000 },
    },
    {
      promise: 'one that has changed since starts anew',
      lease: buildLease('other', '6', 15),
      observed: seen('5', 0),
      step: { type: 'wait', ms: 15_000 },
    },
    {
      promise: 'one unchanged for a part of its duration is waited for',
      lease: buildLease('other', '5', 15),
      observed: seen('5', now - 14_999),
      step: { type: 'wait', ms: 1 },
    },
    {
      promise: 'one unchanged for its whole duration is taken',
      lease: buildLease('other', '5', 15),
      observed: seen('5', now - 15_000),
      step: { type: 'acquire' },
    },
    {
      promise: 'the holder’s duration counts, not ours',
      lease: buildLease('other', '5', 137),
      observed: seen('5', now - 60_000),
      step: { type: 'wait', ms: 77_000 },
    },
    {
      promise: 'a lease without a duration is given one second',
      lease: buildLease('other', '5'),
      observed: seen('5', now - 1000),
      step: { type: 'acquire' },
    },
    {
      promise: 'what somebody else holds while we thought it ours is lost',
      lease: buildLease('other', '6', 15),
      observed: seen('5', now - 60_000, true),
      step: { type: 'lost' },
    },
  ];
  it.each(cases)('$promise', ({ lease, observed, step }) => {
    expect(nextLeaseStep(lease, 'me', observed, now)).toEqual(step);
  });
});

/** A server that stores one lease and, like the real one, refuses a write on another version. */
function leaseServer() {
  let stored: Stored<Lease> | undefined;
  let version = 0;
  const server = {
    broken: false,
    writes: 0,
    stored: () => stored,
    transport: {
      server: 'memory',
      json: (request: Request) =>
        new Promise((resolve, reject) => {
          if (!server.broken) resolve(answer(request));
          request.signal?.addEventListener('abort', () => reject(new Error('aborted')));
        }),
      open: () => Promise.reject(new Error('no watches here')),
      close: () => Promise.resolve(),
    } satisfies Transport,
  };
  function answer(request: Request): unknown {
    request.beforeSend?.();
    if (request.method === 'GET') {
      if (stored === undefined) throw new KubeError('SLW_KUBE_NOT_FOUND', 'no lease');
      return stored;
    }
    const { metadata, spec } = request.body as Stored<Lease>;
    const conflict = request.method === 'POST' ? stored !== undefined : staleFor(metadata.resourceVersion);
    if (conflict) throw new KubeError('SLW_KUBE_CONFLICT', 'another version');
    server.writes += 1;
    version += 1;
    stored = {
      metadata: { name: 'lock', namespace: 'ns', uid: 'u', resourceVersion: String(version) },
      spec: { ...stored?.spec, ...spec },
    };
    return stored;
  }
  const staleFor = (asked: string): boolean => asked !== stored?.metadata.resourceVersion;
  return server;
}

describe('an election', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const candidate = (server: ReturnType<typeof leaseServer>, identity: string): Election =>
    createElection({
      client: createClient(server.transport),
      lease: { namespace: 'ns', name: 'lock' },
      log: silentLog(),
      identity,
    });

  it('has one winner; the other takes over when the winner releases the lease', async () => {
    const server = leaseServer();
    const [first, second] = [candidate(server, 'first'), candidate(server, 'second')];
    first.start();
    await vi.advanceTimersByTimeAsync(10);
    second.start();
    await vi.advanceTimersByTimeAsync(60_000);
    expect([first.held, second.held]).toEqual([true, false]);
    const term = first.term;
    await first.stop();
    expect(first.held).toBe(false);
    await vi.advanceTimersByTimeAsync(2500);
    expect(second.held).toBe(true);
    expect(second.term).toBe(term + 1);
    await second.stop();
    expect(server.stored()?.spec?.holderIdentity).toBe('');
  });

  it('a leader that cannot renew stops leading at its deadline, before another can start', async () => {
    const [server, cut] = [leaseServer(), leaseServer()];
    const told: string[] = [];
    // The first one's connection to the server breaks, the second one's does not.
    const transport: Transport = {
      ...server.transport,
      json: (request) => (cut.broken ? cut.transport : server.transport).json(request),
    };
    const first = createElection({
      client: createClient(transport),
      lease: { namespace: 'ns', name: 'lock' },
      log: silentLog(),
      identity: 'first',
    });
    const second = candidate(server, 'second');
    first.onChange((held) => told.push(`first ${held}`));
    second.onChange((held) => told.push(`second ${held}, first ${first.held}`));
    first.start();
    await vi.advanceTimersByTimeAsync(10);
    second.start();
    await vi.advanceTimersByTimeAsync(3000);
    cut.broken = true;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(told).toEqual(['first true', 'first false']);
    expect(() => first.assertHeld()).toThrow(expect.objectContaining({ code: 'SLW_KUBE_NOT_LEADER' }));
    await vi.advanceTimersByTimeAsync(10_000);
    expect(told).toEqual(['first true', 'first false', 'second true, first false']);
    cut.broken = false;
    await vi.advanceTimersByTimeAsync(20_000);
    expect([first.held, second.held]).toEqual([false, true]);
    await Promise.all([first.stop(), second.stop()]);
  });

  it('the age of a renewal counts from its start, even if the clock jumps while nothing runs', async () => {
    const server = leaseServer();
    const only = candidate(server, 'only');
    only.start();
    await vi.advanceTimersByTimeAsync(10);
    expect(() => only.assertHeld()).not.toThrow();
    // Time passes without a timer being able to fire: a frozen process.
    vi.setSystemTime(Date.now() + 10_000);
    expect(only.held).toBe(false);
    expect(() => only.assertHeld()).toThrow(/lease ns\/lock was last renewed 10\d\d\d ms ago/);
    await only.stop();
  });

  it('inconsistent times are refused', () => {
    const options = { client: createClient(leaseServer().transport), log: silentLog() };
    const lease = { namespace: 'ns', name: 'lock' };
    expect(() => createElection({ ...options, lease, leaseMs: 10_000, renewDeadlineMs: 10_000 })).toThrow(RangeError);
  });
});

describe('fence', () => {
  const pods: Resource = { group: '', version: 'v1', kind: 'Pod', plural: 'pods', namespaced: true };
  const name = { namespace: 'ns', name: 'a' };
  const apply = { fieldManager: 'test' };
  const writes: [string, (client: Client, precondition: Precondition) => Promise<unknown>][] = [
    ['create', (client) => client.create(pods, { metadata: name })],
    ['patch', (client, precondition) => client.patch(pods, name, { type: 'merge', body: {} }, precondition)],
    ['apply', (client, precondition) => client.apply(pods, { metadata: name }, precondition, apply)],
    ['delete', (client, precondition) => client.delete(pods, name, precondition)],
    ['evict', (client, precondition) => client.evict(name, precondition)],
  ];
  const leadership = (held: () => boolean) => ({
    assertHeld() {
      if (!held()) throw new KubeError('SLW_KUBE_NOT_LEADER', 'not held');
    },
  });
  function server(beforeAnswer = (): void => {}) {
    const sent: string[] = [];
    const transport: Transport = {
      server: 'memory',
      json: async (request) => {
        beforeAnswer();
        await Promise.resolve();
        request.beforeSend?.();
        sent.push(request.method);
        return {};
      },
      open: () => Promise.reject(new Error('no watches here')),
      close: () => Promise.resolve(),
    };
    return { client: createClient(transport), sent };
  }

  it.each([
    ['nothing', {}, ['create']],
    ['a uid', { uid: 'u' }, ['create', 'delete', 'evict']],
    ['a resourceVersion', { resourceVersion: '1' }, ['create', 'patch', 'apply', 'delete', 'evict']],
  ] as const)('with %s as precondition, only writes that need no more are sent', async (_what, given, allowed) => {
    const sent: string[] = [];
    for (const [verb, write] of writes) {
      const memory = server();
      await write(
        fence(
          memory.client,
          leadership(() => true),
        ),
        given,
      ).catch((error: unknown) => {
        if (!isKubeError(error, 'SLW_KUBE_NO_PRECONDITION')) throw error;
      });
      if (memory.sent.length > 0) sent.push(verb);
    }
    expect(sent).toEqual(allowed);
  });

  it.each(writes)(
    '%s is not sent by who does not lead, nor when the lead was lost while it waited',
    async (_verb, write) => {
      const precondition = { uid: 'u', resourceVersion: '1' };
      const before = server();
      await expect(
        write(
          fence(
            before.client,
            leadership(() => false),
          ),
          precondition,
        ),
      ).rejects.toMatchObject({
        code: 'SLW_KUBE_NOT_LEADER',
      });
      let held = true;
      const during = server(() => (held = false));
      await expect(
        write(
          fence(
            during.client,
            leadership(() => held),
          ),
          precondition,
        ),
      ).rejects.toMatchObject({
        code: 'SLW_KUBE_NOT_LEADER',
      });
      expect([...before.sent, ...during.sent]).toEqual([]);
    },
  );
});
