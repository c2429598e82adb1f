import { once } from 'node:events';
import { until } from '@slipway/testing/wait';
import { describe, expect, it } from 'vitest';
import { serveLargeAnswers } from './testing/large-answers.ts';
import { sendRequest, connectTo, openTcp, readReply, requestText, startTestServer } from './testing/test-server.ts';

const text = (reply: { body: Buffer }) => reply.body.toString();
describe('a client that misbehaves', () => {
  // One short limit at a time: on a slow machine another one could close the connection first.
  const quickHandshake = { listen: { handshakeMs: 300 } };
  const quickHead = { listen: { headMs: 300 } };

  it('is cut off when it never starts the handshake', async () => {
    await using server = await startTestServer({ limits: quickHandshake });
    const socket = await openTcp(server.port);
    await once(socket.resume(), 'close');
    expect(await server.metrics.registry.metrics()).toContain('slipway_server_handshake_failures_total 1');
  });

  it('is cut off when it sends nothing', async () => {
    await using server = await startTestServer({ limits: quickHead });
    expect((await readReply(await connectTo(server.port))).status).toBe(408);
  });

  it('is cut off when it sends its request a byte at a time', async () => {
    await using server = await startTestServer({ limits: quickHead });
    const socket = await connectTo(server.port);
    const bytes = requestText({ headers: { filling: 'x'.repeat(1000) } });
    let at = 0;
    const drip = setInterval(() => socket.write(bytes.charAt(at++)), 20);
    try {
      // A byte that arrives after the server has hung up resets the connection, and an unread response is lost with it.
      const end = await readReply(socket).then(
        ({ status }) => status,
        (error: NodeJS.ErrnoException) => error.code,
      );
      expect([408, 'ECONNRESET', 'EPIPE']).toContain(end);
      expect(at).toBeLessThan(bytes.length);
    } finally {
      clearInterval(drip);
    }
    await until(async () => expect((await sendRequest(server.port)).status).toBe(200), 'process');
  });

  it('is refused when its headers are too long', async () => {
    await using server = await startTestServer();
    expect((await sendRequest(server.port, { headers: { filling: 'x'.repeat(9000) } })).status).toBe(431);
  });

  it('is refused when it does not speak HTTP', async () => {
    await using server = await startTestServer();
    const socket = await connectTo(server.port);
    socket.write('hello\r\n\r\n');
    expect((await readReply(socket)).status).toBe(400);
  });

  it('is cut off when it does not read its response, and others are answered meanwhile', async () => {
    const limits = { gate: { active: 1, turnMs: 100 }, send: { stallMs: 1500 } };
    await using server = await serveLargeAnswers(limits);
    const slow = await connectTo(server.port);
    slow.pause();
    const closed = once(slow, 'close');
    slow.write(requestText({}));
    expect((await sendRequest(server.port)).status).toBe(200);
    slow.on('error', () => {});
    await until(() => expect(server.lines.join()).toContain('was cut off'), 'process');
    slow.resume();
    await closed;
  });

  it('is cut off when it reads too slowly', async () => {
    await using server = await serveLargeAnswers({ send: { totalMs: 500 } });
    const slow = await connectTo(server.port);
    slow.pause();
    slow.write(requestText({}));
    const sip = setInterval(() => slow.read(1000), 20);
    try {
      await until(() => expect(server.lines.join()).toContain('was cut off'), 'process');
    } finally {
      clearInterval(sip);
      slow.destroy();
    }
  });

  it('is dropped when there are too many connections, until some have gone', async () => {
    await using server = await startTestServer({ limits: { listen: { connections: 2 } } });
    const held = [await connectTo(server.port), await connectTo(server.port)];
    await expect(sendRequest(server.port)).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(await server.metrics.registry.metrics()).toContain('slipway_server_dropped_connections_total 1');
    for (const socket of held) socket.destroy();
    await until(async () => expect((await sendRequest(server.port)).status).toBe(200), 'process');
  });
});

describe('one address that holds every connection without a request', () => {
  const HOG = '127.0.0.2';

  it('does not keep a machine at another address from its config for 10 s, with 2,048 connections', async () => {
    await using server = await startTestServer();
    const held = await Promise.all(Array.from({ length: 2048 }, () => openTcp(server.port, HOG)));
    await until(
      async () => expect(await server.metrics.registry.metrics()).toContain('slipway_server_connections 2048'),
      'process',
    );
    const started = performance.now();
    expect((await sendRequest(server.port, {}, '127.0.0.3')).status).toBe(200);
    expect(performance.now() - started).toBeLessThan(10_000);
    for (const socket of held) socket.destroy();
  });

  it('loses its oldest one to each machine at another address, after the handshake too', async () => {
    await using server = await startTestServer({ limits: { listen: { connections: 3 } } });
    const held = [];
    for (let number = 0; number < 3; number += 1) held.push(await connectTo(server.port, HOG));
    const closed = held.map((socket) => once(socket.resume(), 'close'));
    expect((await sendRequest(server.port, {}, '127.0.0.3')).status).toBe(200);
    await closed[0];
    expect(held.map(({ destroyed }) => destroyed)).toEqual([true, false, false]);
    expect(server.lines.join()).toContain('closed an idle connection, because too many are open');
    expect(await server.metrics.registry.metrics()).toContain('slipway_server_dropped_connections_total 1');
    for (const socket of held) socket.destroy();
  });

  it('is a rack of machines behind one address: all of them are served', async () => {
    await using server = await startTestServer({ limits: { listen: { connections: 40 } } });
    const rack = Array.from({ length: 40 }, () => sendRequest(server.port, {}, HOG));
    expect((await Promise.all(rack)).map(({ status }) => status)).toEqual(Array.from({ length: 40 }, () => 200));
  });

  it('writes ten lines to the log, and not one for each request', async () => {
    await using server = await startTestServer();
    for (let number = 0; number < 30; number += 1) await sendRequest(server.port, { token: '' }, HOG);
    await until(
      () => expect(server.lines.filter((line) => line.includes('request refused'))).toHaveLength(10),
      'process',
    );
    expect((await sendRequest(server.port, { token: '' }, '127.0.0.3')).status).toBe(401);
    await until(
      () => expect(server.lines.filter((line) => line.includes('request refused'))).toHaveLength(11),
      'process',
    );
    await server.server.stop();
    expect(server.lines.filter((line) => line.includes('"count":20'))).toHaveLength(1);
  });
});

describe('a herd', () => {
  it('is answered in order of arrival', async () => {
    await using server = await startTestServer({ bytes: 300_000, limits: { gate: { active: 1 } } });
    const sockets = [];
    for (let number = 0; number < 10; number += 1) sockets.push(await connectTo(server.port));
    const replies = [];
    for (const socket of sockets) {
      socket.write(requestText({}));
      replies.push(readReply(socket));
    }
    const answered = await Promise.all(replies);
    expect(answered.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200));
    expect(answered.map(({ at }) => at)).toEqual(answered.map(({ at }) => at).toSorted((a, b) => a - b));
  });

  it('is immediately asked to retry later if the queue is full', async () => {
    const limits = { gate: { active: 1, waiting: 1, turnMs: 60_000 } };
    await using server = await serveLargeAnswers(limits);
    const slow = [await connectTo(server.port), await connectTo(server.port)];
    for (const socket of slow) {
      socket.pause();
      socket.write(requestText({}));
    }
    await until(
      async () => expect(await server.metrics.registry.metrics()).toContain('slipway_server_waiting 1'),
      'process',
    );
    const started = performance.now();
    const reply = await sendRequest(server.port);
    expect(reply).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
    expect(text(reply)).toContain('[SLW_SERVER_BUSY]');
    expect(performance.now() - started).toBeLessThan(10_000);
    // Requests that need no slot are answered anyway.
    expect((await sendRequest(server.port, { path: '/healthz' })).status).toBe(200);
    for (const socket of slow) socket.destroy();
    await until(async () => expect((await sendRequest(server.port)).status).toBe(200), 'process');
  });
});
