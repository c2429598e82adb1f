import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startFaultProxy, type FaultProxy } from './fault-proxy.ts';
import { attachIsIgnored, detachIsIgnored, driveShows, hangs, isCut, nodeIsLocked, powerStateLags } from './lies.ts';

const NODE = '/v1/nodes/n';

describe('a fault proxy', () => {
  // Two in a row: the inner one answers everything, and records what the outer one forwarded.
  let server: FaultProxy;
  let proxy: FaultProxy;
  beforeAll(async () => {
    server = await startFaultProxy({ url: 'http://127.0.0.1:1' });
    server.add(({ path }) => ({
      kind: 'answer',
      status: 200,
      body: path.endsWith('/vmedia')
        ? [
            { media_types: ['CD'], inserted: false, image: '' },
            { media_types: ['Floppy'], inserted: false, image: '' },
          ]
        : { power_state: 'power off' },
    }));
    proxy = await startFaultProxy(server);
  });
  afterAll(async () => {
    await proxy?.stop();
    await server?.stop();
  });
  const sendRequest = async (method: string, path: string, body?: unknown) => {
    const before = server.seen.length;
    const answer = await fetch(`${proxy.url}${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, body: text === '' ? null : JSON.parse(text), passed: server.seen.length - before };
  };

  it('forwards everything by default', async () => {
    expect(await sendRequest('POST', `${NODE}/vmedia?a=b`, { x: 1 })).toMatchObject({ status: 200, passed: 1 });
    expect(server.seen.at(-1)).toEqual({ method: 'POST', path: `${NODE}/vmedia?a=b`, body: { x: 1 } });
    expect(proxy.seen.at(-1)).toEqual(server.seen.at(-1));
  });

  it.each([
    ['an attach', attachIsIgnored, 'POST', `${NODE}/vmedia`],
    ['a detach', detachIsIgnored, 'DELETE', `${NODE}/vmedia?device_types=cdrom`],
  ])('accepts %s and does nothing', async (_, rule, method, path) => {
    const end = proxy.add(rule);
    expect(await sendRequest(method, path)).toEqual({ status: 204, body: null, passed: 0 });
    expect((await sendRequest('GET', `${NODE}/vmedia`)).passed).toBe(1);
    end();
    expect((await sendRequest(method, path)).passed).toBe(1);
  });

  it('shows another image in the drive, and the floppy unchanged', async () => {
    const end = proxy.add(driveShows('http://other'));
    expect((await sendRequest('GET', `${NODE}/vmedia`)).body).toEqual([
      { media_types: ['CD'], inserted: true, image: 'http://other' },
      { media_types: ['Floppy'], inserted: false, image: '' },
    ]);
    end();
  });

  it('shows an old power state a number of times', async () => {
    const end = proxy.add(powerStateLags('power on', 2));
    const seen = [];
    for (let times = 0; times < 3; times += 1)
      seen.push((await sendRequest('GET', `${NODE}?fields=power_state`)).body.power_state);
    expect(seen).toEqual(['power on', 'power on', 'power off']);
    end();
  });

  it('reports the node as locked a number of times, to change requests', async () => {
    const end = proxy.add(nodeIsLocked(1));
    expect((await sendRequest('GET', NODE)).status).toBe(200);
    expect(await sendRequest('PUT', `${NODE}/states/power`)).toMatchObject({ status: 409, passed: 0 });
    expect(await sendRequest('PUT', `${NODE}/states/power`)).toMatchObject({ status: 200, passed: 1 });
    end();
  });

  it.each([
    [false, 0],
    [true, 1],
  ])('cuts the connection; after processing: %s', async (after, passed) => {
    const end = proxy.add(isCut(/^PUT/, { after }));
    const before = server.seen.length;
    await expect(sendRequest('PUT', `${NODE}/states/power`)).rejects.toThrow(/fetch failed|terminated/);
    expect(server.seen.length - before).toBe(passed);
    end();
  });

  it('does not respond at all', async () => {
    const end = proxy.add(hangs(/^PUT/, 1));
    const signal = AbortSignal.timeout(100);
    await expect(fetch(`${proxy.url}${NODE}`, { method: 'PUT', signal })).rejects.toThrow(/timeout/);
    expect((await sendRequest('PUT', NODE)).passed).toBe(1);
    end();
  });

  it('waits while the test does something in between', async () => {
    let go = () => {};
    const until = new Promise<void>((resolve) => {
      go = resolve;
    });
    const end = proxy.add(({ method }) => (method === 'PUT' ? { kind: 'wait', until } : undefined));
    const before = server.seen.length;
    const asked = sendRequest('PUT', NODE);
    await expect.poll(() => proxy.seen.at(-1)?.method).toBe('PUT');
    expect(server.seen.length).toBe(before);
    go();
    expect(await asked).toMatchObject({ status: 200 });
    end();
  });

  it('closes the connection if the server is gone', async () => {
    const lonely = await startFaultProxy({ url: 'http://127.0.0.1:1' });
    await expect(fetch(lonely.url)).rejects.toThrow(/fetch failed|terminated/);
    await lonely.stop();
  });
});
