import { constants } from 'node:http2';
import { makeAuthority } from '@slipway/testing/certificates';
import { type RequestHandler, respondJson, startFakeServer } from '@slipway/testing/fake-http-server';
import { startTcpFaultProxy } from '@slipway/testing/tcp-fault-proxy';
import { until } from '@slipway/testing/wait';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type Http2Request, respond, startHttp2Server } from '../testing/http2-server.ts';
import type { Resource } from './resource.ts';
import { createInformer } from '../watch/informer.ts';
import type { ClusterAccess } from './access.ts';
import { DEFAULT_PINGS } from './http2.ts';
import { createTransport, type Request, type Stream } from './transport.ts';

const read: Request = { method: 'GET', path: '/api', retry: 'never', what: 'get Thing a' };
const write: Request = { method: 'POST', path: '/api', body: { a: 1 }, retry: 'never', what: 'create Thing a' };
const watch: Request = { method: 'GET', path: '/watch', retry: 'never', what: 'watch Thing' };
const ok = { ok: true };

/** Answers requests, and keeps watches open. */
const serve = ({ path, stream }: Http2Request): void => {
  if (path !== '/watch') return respond(stream, 200, ok);
  stream.respond({ ':status': 200 });
  stream.write('one');
};

/** Reads until the stream ends, and resolves to the reason. */
async function readToEnd(stream: Stream): Promise<unknown> {
  try {
    for await (const _ of stream);
    return 'ended';
  } catch (error) {
    return error;
  }
}

describe('one connection', () => {
  it('carries all watches and requests of a program, also those that start together', async () => {
    await using server = await startHttp2Server(serve);
    const transport = createTransport(server.access(), { multiplex: true });
    const watches = await Promise.all([1, 2, 3].map(() => transport.open(watch)));
    const answers = await Promise.all(Array.from({ length: 30 }, () => transport.json(write)));
    expect(answers).toEqual(Array.from({ length: 30 }, () => ok));
    expect(server.sessions).toHaveLength(1);
    for (const each of watches) each.destroy();
    await transport.close();
  });

  it('is left for another when the server accepts no more requests on it', async () => {
    await using server = await startHttp2Server(serve, { maxConcurrentStreams: 2 });
    const transport = createTransport(server.access(), { multiplex: true });
    // The first response comes after the server's limits.
    await transport.json(read);
    const watches = [await transport.open(watch), await transport.open(watch), await transport.open(watch)];
    expect(await transport.json(read)).toEqual(ok);
    expect(server.sessions).toHaveLength(2);
    for (const each of watches) each.destroy();
    await transport.close();
  });

  it('stays open when a request on it is cancelled, is late or is refused by the caller', async () => {
    await using server = await startHttp2Server((request) => {
      if (request.query.get('say') !== 'nothing') serve(request);
    });
    const transport = createTransport(server.access(), { multiplex: true });
    const stream = await transport.open(watch);
    const silent = { ...read, query: { say: 'nothing' } };
    const abort = new AbortController();
    const reason = new Error('no longer wanted');
    setTimeout(() => abort.abort(reason), 50);
    await expect(transport.json({ ...silent, signal: abort.signal })).rejects.toBe(reason);
    await expect(transport.json({ ...silent, timeoutMs: 50 })).rejects.toMatchObject({ code: 'SLW_KUBE_TIMEOUT' });
    const refusal = new Error('not the leader any more');
    const beforeSend = (): void => {
      throw refusal;
    };
    await expect(transport.json({ ...write, beforeSend })).rejects.toBe(refusal);
    expect(await transport.json(read)).toEqual(ok);
    expect(server.sessions).toHaveLength(1);
    expect(server.requests.filter(({ method }) => method === 'POST')).toHaveLength(0);
    stream.destroy();
    await transport.close();
  });

  it('that breaks ends its watches and requests with an error each, and the next request opens another', async () => {
    await using server = await startHttp2Server((request) => {
      if (request.method !== 'POST') serve(request);
      else request.session?.destroy();
    });
    const transport = createTransport(server.access(), { multiplex: true });
    const ended = readToEnd(await transport.open(watch));
    await expect(transport.json(write)).rejects.toMatchObject({ code: 'SLW_KUBE_OUTCOME_UNKNOWN' });
    expect(await ended).toMatchObject({ code: 'SLW_KUBE_UNREACHABLE' });
    expect(await transport.json(read)).toEqual(ok);
    expect(server.sessions).toHaveLength(2);
    await transport.close();
  });

  it('that is closed by us ends everything', async () => {
    await using server = await startHttp2Server(serve);
    const transport = createTransport(server.access(), { multiplex: true });
    const ended = readToEnd(await transport.open(watch));
    await transport.close();
    expect(await ended).not.toBe('ended');
    await until(() => expect(server.sessions.every(({ destroyed }) => destroyed)).toBe(true), 'process');
    await expect(transport.json(read)).rejects.toMatchObject({ code: 'SLW_KUBE_UNREACHABLE' });
  });

  it('that was opened for a request that is no longer needed does not keep the process alive', async () => {
    await using server = await startHttp2Server(serve);
    const countSockets = (): number =>
      process.getActiveResourcesInfo().filter((each) => each === 'TCPSocketWrap').length;
    const before = countSockets();
    const transport = createTransport(server.access(), { multiplex: true });
    const abort = new AbortController();
    const reason = new Error('no longer needed');
    setImmediate(() => abort.abort(reason));
    await expect(transport.json({ ...read, signal: abort.signal })).rejects.toBe(reason);
    await until(() => expect(server.sessions).toHaveLength(1), 'process');
    // The server's end of it.
    await until(() => expect(countSockets()).toBe(before + 1), 'process');
    await transport.close();
  });
});

describe('the certificate of the server', () => {
  afterEach(() => void vi.unstubAllEnvs());

  it.each<[string, Partial<ClusterAccess>]>([
    ['of an unknown CA', { ca: async () => (await makeAuthority()).cert }],
    ['of no CA that the system knows', { ca: async () => undefined }],
    ['for another name', { tlsServerName: 'other.example.com' }],
  ])('%s is refused, whatever the environment asks Node to do', async (_, more) => {
    await using server = await startHttp2Server(serve);
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    const transport = createTransport({ ...server.access(), ...more }, { multiplex: true });
    await expect(transport.json(write)).rejects.toMatchObject({ code: 'SLW_KUBE_TLS' });
    expect(server.requests).toHaveLength(0);
    await transport.close();
  });
});

it('a server that speaks only HTTP/1.1 is used with HTTP/1.1', async () => {
  const authority = await makeAuthority();
  const answer: RequestHandler = ({ path }, response) => {
    if (path === '/watch') response.writeHead(200).write('one');
    else respondJson(response, 200, ok);
  };
  await using server = await startFakeServer(answer, { tls: await authority.issue('API server') });
  const access = { ...(await accessToNobody()), server: server.url, ca: async () => authority.cert };
  const transport = createTransport(access, { multiplex: true });
  const stream = await transport.open(watch);
  expect(await Promise.all([transport.json(read), transport.json(write)])).toEqual([ok, ok]);
  expect(server.requests).toHaveLength(3);
  stream.destroy();
  await transport.close();
});

async function accessToNobody() {
  await using server = await startHttp2Server(serve);
  return server.access();
}

describe('a connection whose packets are dropped without a word', () => {
  it('is noticed by its pings, and everything continues on another one', async () => {
    await using server = await startHttp2Server(serve);
    await using proxy = await startTcpFaultProxy(server.port);
    const transport = createTransport(server.access(proxy.port), {
      multiplex: { pings: { everyMs: 100, timeoutMs: 300 } },
    });
    const ended = readToEnd(await transport.open({ ...watch, silenceMs: 150_000 }));
    proxy.blackHole();
    expect(await ended).toMatchObject({ code: 'SLW_KUBE_TIMEOUT' });
    expect(await transport.json(read)).toEqual(ok);
    expect(proxy.opened).toBe(2);
    await transport.close();
  });

  it('is noticed too while it only finishes its watches after a GOAWAY', async () => {
    await using server = await startHttp2Server(serve);
    await using proxy = await startTcpFaultProxy(server.port);
    const transport = createTransport(server.access(proxy.port), {
      multiplex: { pings: { everyMs: 100, timeoutMs: 300 } },
    });
    const stream = await transport.open({ ...watch, silenceMs: 150_000 });
    const ended = readToEnd(stream);
    server.sessions[0]?.goaway(constants.NGHTTP2_NO_ERROR, 2 ** 31 - 1);
    // Once the GOAWAY has arrived, requests use another connection.
    await until(async () => {
      await transport.json(read);
      expect(server.sessions).toHaveLength(2);
    }, 'process');
    proxy.blackHole();
    expect(await ended).toMatchObject({ code: 'SLW_KUBE_TIMEOUT' });
    await transport.close();
  });

  it('is noticed within 45 seconds', () => {
    expect(DEFAULT_PINGS.everyMs + DEFAULT_PINGS.timeoutMs).toBeLessThanOrEqual(45_000);
  });

  it('is not confused with one that has nothing to say', async () => {
    await using server = await startHttp2Server(serve);
    const transport = createTransport(server.access(), { multiplex: { pings: { everyMs: 20, timeoutMs: 5000 } } });
    const stream = await transport.open(watch);
    let pings = 0;
    for (const session of server.sessions) session.on('ping', () => (pings += 1));
    await until(() => expect(pings).toBeGreaterThan(10), 'process');
    expect(server.sessions).toHaveLength(1);
    expect(server.sessions[0]?.destroyed).toBe(false);
    stream.destroy();
    await transport.close();
  });
});

const things: Resource = { group: '', version: 'v1', kind: 'Thing', plural: 'things', namespaced: false };
const eventLine = (type: string, name: string, resourceVersion: string, annotations?: object): string =>
  `${JSON.stringify({ type, object: { metadata: { name, uid: `uid-${name}`, resourceVersion, annotations } } })}\n`;

describe('a GOAWAY', () => {
  it('moves new requests to another connection, and the watch misses nothing', async () => {
    await using server = await startHttp2Server(({ path, stream }) => {
      if (path === '/api') return respond(stream, 200, ok);
      stream.respond({ ':status': 200 });
      stream.write('\n');
    });
    const transport = createTransport(server.access(), { multiplex: true });
    const informer = createInformer(transport, { resource: things });
    const heard: string[] = [];
    informer.onChange((change) => void heard.push(change.type === 'deleted' ? '' : change.object.metadata.name));
    const stop = new AbortController();
    informer.start(stop.signal);
    await until(() => expect(server.requests).toHaveLength(1), 'process');
    const [first] = server.requests;
    const initialEnd = { 'k8s.io/initial-events-end': 'true' };
    first?.stream.write(eventLine('ADDED', 'a', '1') + eventLine('BOOKMARK', '', '1', initialEnd));
    await informer.synced;
    // As Go's server does it: no limit first, so that requests on their way are still accepted.
    server.sessions[0]?.goaway(constants.NGHTTP2_NO_ERROR, 2 ** 31 - 1);
    first?.stream.write(eventLine('ADDED', 'b', '2'));
    await until(() => expect(heard).toEqual(['a', 'b']), 'process');
    expect(await transport.json(read)).toEqual(ok);
    expect(server.sessions).toHaveLength(2);
    // The server ends the watch of the old connection; the next one resumes behind the last event.
    first?.stream.end(eventLine('ADDED', 'c', '3'));
    await until(() => expect(server.requests.filter(({ path }) => path !== '/api')).toHaveLength(2), 'process');
    const resumed = server.requests.at(-1);
    expect(resumed?.query.get('resourceVersion')).toBe('3');
    expect(resumed?.session).toBe(server.sessions[1]);
    resumed?.stream.write(eventLine('ADDED', 'd', '4'));
    await until(() => expect(heard).toEqual(['a', 'b', 'c', 'd']), 'process');
    expect(server.sessions).toHaveLength(2);
    stop.abort();
    await transport.close();
  });

  it('that the server sends with a request still unread lets it be sent again, also a write', async () => {
    await using server = await startHttp2Server(({ stream, session }) => {
      if (session === server.sessions[0]) stream.close(constants.NGHTTP2_REFUSED_STREAM);
      else respond(stream, 201, ok);
      server.sessions[0]?.goaway();
    });
    const transport = createTransport(server.access(), { multiplex: true });
    expect(await transport.json(write)).toEqual(ok);
    expect(server.requests).toHaveLength(2);
    await transport.close();
  });

  it('that names the last request that the server has read lets later ones be sent again, and the watch continues', async () => {
    await using server = await startHttp2Server(({ path, stream, session }) => {
      if (path === '/watch') {
        stream.respond({ ':status': 200 });
        stream.write('one');
        // The watch is request 1, and the next one is 3.
      } else if (session === server.sessions[0]) server.sessions[0]?.goaway(constants.NGHTTP2_NO_ERROR, 1);
      else respond(stream, 201, ok);
    });
    const transport = createTransport(server.access(), { multiplex: true });
    const ended = readToEnd(await transport.open(watch));
    expect(await transport.json(write)).toEqual(ok);
    expect(server.sessions).toHaveLength(2);
    server.requests[0]?.stream.end('two');
    expect(await ended).toBe('ended');
    await transport.close();
  });

  it('with an error says nothing about a write that the server may have read: it is not sent again', async () => {
    await using server = await startHttp2Server(({ session }) => {
      if (session === server.sessions[0]) server.sessions[0]?.goaway(constants.NGHTTP2_REFUSED_STREAM, 1);
    });
    const transport = createTransport(server.access(), { multiplex: true });
    await expect(transport.json(write)).rejects.toMatchObject({ code: 'SLW_KUBE_OUTCOME_UNKNOWN' });
    expect(server.requests).toHaveLength(1);
    await transport.close();
  });
});

it('a write that the server refuses unread, however often, has not taken effect: it is sent until it is read', async () => {
  await using server = await startHttp2Server(({ stream }) => {
    if (server.requests.length <= 3) stream.close(constants.NGHTTP2_REFUSED_STREAM);
    else respond(stream, 201, ok);
  });
  const transport = createTransport(server.access(), { multiplex: true });
  expect(await transport.json({ ...write, retry: 'unsent' })).toEqual(ok);
  expect(server.requests).toHaveLength(4);
  await transport.close();
});
