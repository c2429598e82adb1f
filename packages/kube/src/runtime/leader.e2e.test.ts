import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, inject, it, vi } from 'vitest';
import { type Client, createClient } from '../client/client.ts';
import { loadKubeconfig } from '../client/kubeconfig.ts';
import { createTransport } from '../client/transport.ts';
import { createElection, type Election } from './leader.ts';
import { silentLog } from './log.ts';

let client: Client;
beforeAll(async () => {
  client = createClient(createTransport(await loadKubeconfig([inject('kubeconfig')])));
});
afterAll(() => client.transport.close());

it('a leader that stops gives its lease back, and the next one need not wait for it to expire', async () => {
  const lease = { namespace: 'default', name: `lease-${randomUUID()}` };
  const candidate = (identity: string): Election =>
    createElection({
      client,
      lease,
      identity,
      log: silentLog(),
      leaseMs: 60_000,
      renewDeadlineMs: 40_000,
      retryMs: 100,
    });
  const [first, second] = [candidate('first'), candidate('second')];
  first.start();
  await vi.waitFor(() => expect(first.held).toBe(true), 10_000);
  second.start();
  const { term } = first;
  expect(second.held).toBe(false);
  await first.stop();
  await vi.waitFor(() => expect(second.held).toBe(true), 10_000);
  expect(second.term).toBe(term + 1);
  await second.stop();
});
