import { once } from 'node:events';
import { request } from 'node:https';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { makeAuthority } from './certificates.ts';
import { always, cutHalfway, firstTimes, respondJson, startFakeServer } from './fake-http-server.ts';

describe('a fake server', () => {
  it('answers as configured, and records requests', async () => {
    await using server = await startFakeServer((_, response) => respondJson(response, 201, { made: true }));
    server.serve('/text', 'hello');
    expect(await (await fetch(`${server.url}/text`)).text()).toBe('hello');
    const made = await fetch(`${server.url}/made?by=me`, { method: 'POST', body: 'a body' });
    expect([made.status, await made.json()]).toEqual([201, { made: true }]);
    expect(server.requests).toMatchObject([
      { call: 'GET /text', body: '', concurrent: 1 },
      { call: 'POST /made?by=me', path: '/made', body: 'a body' },
    ]);
    expect(server.requests[1]?.query.get('by')).toBe('me');
  });

  it('fails as often as configured, and no longer', async () => {
    await using server = await startFakeServer();
    const bytes = Buffer.from('0123456789');
    server.serve('/bytes', bytes);
    server.fail(firstTimes(1, /GET \/bytes/, cutHalfway(bytes)));
    await expect(fetch(`${server.url}/bytes`).then((answer) => answer.text())).rejects.toThrow(/terminated|failed/);
    expect(await (await fetch(`${server.url}/bytes`)).text()).toBe('0123456789');
    const stop = server.fail(always(/./, (response) => response.writeHead(503).end()));
    expect((await fetch(`${server.url}/bytes`)).status).toBe(503);
    stop();
    expect((await fetch(`${server.url}/nowhere`)).status).toBe(404);
  });

  it('stops, and starts again on the same port', async () => {
    await using server = await startFakeServer((_, response) => response.end('here'));
    await server.stop();
    await expect(fetch(server.url)).rejects.toThrow('fetch failed');
    await server.start();
    expect(await (await fetch(server.url)).text()).toBe('here');
  });

  it('speaks TLS with a certificate of an authority, which clients that do not trust it refuse', async () => {
    const authority = await makeAuthority();
    const tls = await authority.issue('server', ['files.example.test', '127.0.0.1']);
    await using server = await startFakeServer((_, response) => response.end('secret'), { tls });
    const fetchText = async (ca: string): Promise<string> => {
      const [answer] = await once(request(server.url, { ca, agent: false }).end(), 'response');
      return text(answer);
    };
    expect(await fetchText(authority.cert)).toBe('secret');
    await expect(fetchText((await makeAuthority('Another')).cert)).rejects.toThrow(/unable to verify|self-signed/);
  });
});
