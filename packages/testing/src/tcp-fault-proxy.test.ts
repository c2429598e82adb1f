import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FakeServer, startFakeServer } from './fake-http-server.ts';
import { createRandom } from './random.ts';
import { startTcpFaultProxy, type TcpFaultProxy } from './tcp-fault-proxy.ts';
import { until } from './wait.ts';

const BODY = 'x'.repeat(200_000);
let server: FakeServer;
let proxy: TcpFaultProxy;

beforeEach(async () => {
  server = await startFakeServer((_, response) => response.end(BODY));
  proxy = await startTcpFaultProxy(server.port);
});
afterEach(async () => {
  await proxy.close();
  await server.stop();
});

const fetchText = async (): Promise<string> =>
  (await fetch(`http://${proxy.host}`, { headers: { connection: 'close' } })).text();

async function open(): Promise<Socket> {
  const socket = connect(proxy.port, '127.0.0.1').on('error', () => {});
  await once(socket, 'connect');
  return socket;
}

describe('a TCP proxy', () => {
  it('forwards everything, and counts it', async () => {
    expect(await fetchText()).toBe(BODY);
    expect(proxy.received).toBeGreaterThan(BODY.length);
    expect(proxy.cuts).toBe(0);
  });

  it('cuts one connection after a number of bytes, and no other', async () => {
    proxy.cutAfter(1000);
    await expect(fetchText()).rejects.toThrow(/terminated|failed/);
    expect(proxy.cuts).toBe(1);
    expect(await fetchText()).toBe(BODY);
  });

  it('holds back what follows a number of bytes, and releases it', async () => {
    proxy.holdAfter(1000);
    const answer = fetchText();
    await until(() => expect(proxy.held).toBe(1), 'process');
    proxy.holdAfter(null);
    expect(await answer).toBe(BODY);
    expect(proxy.held).toBe(0);
  });

  it('becomes a black hole for the present connections: nothing passes, none is closed, and new ones work', async () => {
    const inside = await open();
    await until(() => expect(server.openSockets).toBe(1), 'process');
    proxy.blackHole();
    inside.write('GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
    expect(await fetchText()).toBe(BODY);
    expect(server.requests).toHaveLength(1);
    await until(() => expect(proxy.open).toBe(1), 'process');
    expect(inside.closed).toBe(false);
    expect(proxy.opened).toBe(2);
    inside.destroy();
  });

  it('while away closes all connections and refuses new ones', async () => {
    const inside = await open();
    await until(() => expect(server.openSockets).toBe(1), 'process');
    proxy.setAway(true);
    await once(inside, 'close');
    await expect(fetchText()).rejects.toThrow('fetch failed');
    proxy.setAway(false);
    expect(await fetchText()).toBe(BODY);
  });

  it('while dark leaves some connections hanging, which are served afterwards', async () => {
    proxy.setDark(true);
    const answer = fetchText();
    proxy.setDark(false);
    expect(await answer).toBe(BODY);
  });

  it('with random faults cuts connections until they are turned off', async () => {
    await using random = await startTcpFaultProxy(server.port, {
      random: createRandom(1),
      bytes: { least: 1000, most: 5000 },
      lifeMs: { least: 5000, most: 6000 },
      delay: { often: 0.5, mostMs: 5 },
    });
    const url = `http://${random.host}`;
    await expect(fetch(url).then((answer) => answer.text())).rejects.toThrow(/terminated|failed/);
    expect(random.cuts).toBe(1);
    random.calm();
    expect(await (await fetch(url)).text()).toBe(BODY);
  });
});
