import { respondJson } from '@slipway/testing/fake-http-server';
import { describe, expect, it } from 'vitest';
import { startStandInServer } from '../testing/stand-in-server.ts';
import { createTransport, impersonating, type Request } from './transport.ts';

const read: Request = { method: 'GET', path: '/api', retry: 'always', what: 'get Thing a' };
const node = { user: 'system:node:worker-1', groups: ['system:nodes', 'machines'] };

describe('a transport in the name of somebody else', () => {
  it('adds the identity to every request, and does not change the original transport', async () => {
    await using server = await startStandInServer((_, response) => respondJson(response, 200, { ok: true }));
    const transport = createTransport(server.access());
    const theirs = impersonating(transport, node);
    await theirs.json(read);
    for await (const _ of await theirs.open(read));
    await theirs.close();
    await transport.json(read);
    await transport.close();
    const seen = server.requests.map(({ headers }) => [headers['impersonate-user'], headers['impersonate-group']]);
    expect(seen).toEqual([
      [node.user, 'system:nodes, machines'],
      [node.user, 'system:nodes, machines'],
      [undefined, undefined],
    ]);
  });
});
