import { randomUUID } from 'node:crypto';
import { connectToShared } from '@slipway/testing/control-plane';
import { until } from '@slipway/testing/wait';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Client } from '../client/client.ts';
import { createElection, type Election } from './leader.ts';
import { silentLog } from './log.ts';

let client: Client;
beforeAll(async () => {
  client = await connectToShared();
});
afterAll(() => client.transport.close());

it('a leader that stops releases its lease, and the next one need not wait for it to expire', async () => {
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
  await until(() => expect(first.held).toBe(true));
  second.start();
  const { term } = first;
  expect(second.held).toBe(false);
  await first.stop();
  await until(() => expect(second.held).toBe(true));
  expect(second.term).toBe(term + 1);
  await second.stop();
});
