import { type AddressInfo, createServer } from 'node:net';
import { makeAuthority } from '@slipway/testing/certificates';
import { type RequestHandler, respondJson, startFakeServer } from '@slipway/testing/fake-http-server';
import { until } from '@slipway/testing/wait';
import { pickFreePort } from '@slipway/tools/controlplane';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { startStandInServer, statusBody } from '../testing/stand-in-server.ts';
import { type Credentials, fixedCredentials } from './credentials.ts';
import { KubeError, type KubeErrorCode } from './errors.ts';
import { createTransport, type Request, retryDelay, type TransportOptions } from './transport.ts';

const read: Request = { method: 'GET', path: '/api', retry: 'always', what: 'get Thing a' };
const write: Request = { method: 'POST', path: '/api', body: { a: 1 }, retry: 'unsent', what: 'create Thing a' };
const ok = { metadata: {}, ok: true };

afterEach(() => void vi.unstubAllEnvs());

/** Answers in sequence; the last one repeats. */
const inTurn = (...answers: RequestHandler[]): RequestHandler => {
  let turn = 0;
  return (seen, response) => {
    const answer = answers[Math.min(turn, answers.length - 1)];
    turn += 1;
    return answer?.(seen, response);
  };
};
const good: RequestHandler = (_, response) => respondJson(response, 200, ok);
const failing =
  (status: number, headers: object = {}): RequestHandler =>
  (_, response) =>
    respondJson(response, status, statusBody(status, 'Reason'), headers);
const reset: RequestHandler = (_, response) => {
  response.socket?.resetAndDestroy();
};

async function trying(
  answer: RequestHandler,
  request: Request,
  options: TransportOptions = {},
  credentials?: Credentials,
) {
  await using server = await startStandInServer(answer);
  const transport = createTransport(server.access(credentials), options);
  const outcome = await transport.json(request).then(
    (value) => ({ value, error: undefined }),
    (error: unknown) => ({ value: undefined, error }),
  );
  await transport.close();
  return {
    ...outcome,
    code: outcome.error instanceof KubeError ? outcome.error.code : undefined,
    seen: server.requests,
  };
}

describe('a write', () => {
  it.each<[string, RequestHandler]>([
    ['the server resets the connection after reading it', reset],
    ['the server hangs up after reading it', (_, response) => void response.socket?.end()],
    [
      'the answer breaks off',
      (_, response) => {
        response.writeHead(201, { 'content-length': '1000' });
        response.write('{"metadata":');
        setImmediate(() => response.socket?.resetAndDestroy());
      },
    ],
    ['the server answers 500', failing(500)],
    ['a proxy answers 502', failing(502)],
    ['a proxy answers 503 in words of its own', (_, response) => void response.writeHead(503).end('no upstream')],
    ['a proxy answers 504', failing(504)],
  ])('is sent exactly once when %s: it may have taken effect', async (_, answer) => {
    const { code, seen } = await trying(answer, write);
    expect(code).toBe('SLW_KUBE_OUTCOME_UNKNOWN');
    expect(seen).toHaveLength(1);
  });

  it('is sent exactly once when no response arrives in time', async () => {
    const { code, seen } = await trying(() => {}, { ...write, timeoutMs: 100 });
    expect(code).toBe('SLW_KUBE_OUTCOME_UNKNOWN');
    expect(seen).toHaveLength(1);
  });

  it('is sent exactly once when the response arrives too slowly', async () => {
    const trickle: RequestHandler = (_, response) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write(' '), 20);
      response.on('close', () => clearInterval(timer));
    };
    const { code, seen } = await trying(trickle, { ...write, timeoutMs: 200 });
    expect(code).toBe('SLW_KUBE_OUTCOME_UNKNOWN');
    expect(seen).toHaveLength(1);
  });

  it.each<[string, RequestHandler, number]>([
    ['429', failing(429, { 'retry-after': '0' }), 0],
    ['503 with a Status', failing(503), 0],
    ['429 with a time to wait', failing(429, { 'retry-after': '1' }), 1000],
    ['503 with a time to wait', failing(503, { 'retry-after': '1' }), 1000],
  ])('is sent again after %s, which means that nothing was done', async (_, answer, waitMs) => {
    const { value, seen } = await trying(inTurn(answer, good), write);
    expect(value).toEqual(ok);
    expect(seen.map(({ body }) => body)).toEqual(['{"a":1}', '{"a":1}']);
    const [first, second] = seen.map(({ at }) => at);
    expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(waitMs);
  });

  it('is sent again when there was no connection: the server may just be starting', async () => {
    const port = await pickFreePort();
    const access = { ...(await accessToNobody()), server: `http://127.0.0.1:${port}` };
    const retries: KubeErrorCode[] = [];
    const server = createServer((socket) => {
      socket
        .on('error', () => {})
        .once('data', () => {
          const body = JSON.stringify(ok);
          socket.end(`HTTP/1.1 201 Created\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
        });
    });
    const transport = createTransport(access, {
      onRetry: ({ code }) => {
        retries.push(code);
        if (retries.length === 2) server.listen(port, '127.0.0.1');
      },
    });
    expect(await transport.json(write)).toEqual(ok);
    expect(retries).toEqual(['SLW_KUBE_UNREACHABLE', 'SLW_KUBE_UNREACHABLE']);
    await transport.close();
    server.close();
  });

  it('is sent again when the connection broke before the first byte: during the TLS handshake', async () => {
    let connections = 0;
    const server = createServer((socket) => {
      connections += 1;
      socket.on('error', () => {}).once('data', () => socket.resetAndDestroy());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const access = { ...(await accessToNobody()), server: `https://127.0.0.1:${port}` };
    const transport = createTransport(access, { retryForMs: 300 });
    await expect(transport.json(write)).rejects.toMatchObject({ code: 'SLW_KUBE_UNREACHABLE' });
    expect(connections).toBeGreaterThan(1);
    await transport.close();
    server.close();
  });

  it('to a server that does not speak TLS fails immediately with a clear error', async () => {
    await using server = await startStandInServer(good);
    const access = server.access();
    const transport = createTransport({ ...access, server: access.server.replace('http:', 'https:') });
    await expect(transport.json(write)).rejects.toMatchObject({ code: 'SLW_KUBE_TLS' });
    await transport.close();
  });

  it('to a server that is not trusted is an error, whatever the environment asks Node to do', async () => {
    const authority = await makeAuthority();
    await using server = await startFakeServer(good, { tls: await authority.issue('API server') });
    const access = { ...(await accessToNobody()), server: server.url };
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    const unsure = createTransport(access);
    await expect(unsure.json(write)).rejects.toMatchObject({ code: 'SLW_KUBE_TLS' });
    await unsure.close();
    const transport = createTransport({ ...access, ca: async () => authority.cert });
    expect(await transport.json(write)).toEqual(ok);
    await transport.close();
  });
});

describe('a read', () => {
  it.each<[string, RequestHandler]>([
    ['the connection broke', reset],
    ['the server answered 500', failing(500)],
    ['a proxy answered 502', failing(502)],
    ['a proxy answered 503 in words of its own', (_, response) => void response.writeHead(503).end('no upstream')],
    ['the server asked to wait', failing(429, { 'retry-after': '0' })],
  ])('is sent again when %s', async (_, answer) => {
    const { value, seen } = await trying(inTurn(answer, answer, good), read);
    expect(value).toEqual(ok);
    expect(seen).toHaveLength(3);
  });

  it('is sent again when no response arrives in time', async () => {
    const { value } = await trying(
      inTurn(() => {}, good),
      { ...read, timeoutMs: 100 },
    );
    expect(value).toEqual(ok);
  });

  it.each<[number, KubeErrorCode]>([
    [400, 'SLW_KUBE_INVALID'],
    [403, 'SLW_KUBE_FORBIDDEN'],
    [409, 'SLW_KUBE_CONFLICT'],
    [410, 'SLW_KUBE_GONE'],
  ])('is not sent again after %i', async (status, expected) => {
    const { code, seen } = await trying(failing(status), read);
    expect(code).toBe(expected);
    expect(seen).toHaveLength(1);
  });

  it('gives up after its time limit, with the last error', async () => {
    const { code, seen } = await trying(failing(500), read, { retryForMs: 400 });
    expect(code).toBe('SLW_KUBE_SERVER');
    expect(seen.length).toBeGreaterThan(1);
  });

  it('does not wait beyond its time limit', async () => {
    const { code, seen } = await trying(failing(429, { 'retry-after': '200' }), read);
    expect(code).toBe('SLW_KUBE_THROTTLED');
    expect(seen).toHaveLength(1);
  });

  it.each<[string, RequestHandler, string]>([
    ['no JSON', (_, response) => void response.end('<html>'), 'get Thing a: the response is not JSON'],
    [
      'too long',
      (_, response) => void response.end('x'.repeat(1001)),
      'get Thing a: the response is longer than 1000 bytes',
    ],
    [
      'a redirect',
      (_, response) => void response.writeHead(302, { location: '/login' }).end(),
      'get Thing a: HTTP 302',
    ],
  ])('whose response is %s is an error', async (_, answer, message) => {
    const { error, seen } = await trying(answer, read, { largestAnswer: 1000 });
    expect(error).toMatchObject({ code: 'SLW_KUBE_BAD_ANSWER', message });
    expect(seen).toHaveLength(1);
  });

  it('ends immediately on its signal while it waits for a response', async () => {
    const abort = new AbortController();
    const reason = new Error('no longer wanted');
    const { error } = await trying(() => abort.abort(reason), { ...read, signal: abort.signal });
    expect(error).toBe(reason);
  });

  it('ends immediately on its signal while it waits to retry', async () => {
    const abort = new AbortController();
    const reason = new Error('no longer wanted');
    const options = { onRetry: () => setTimeout(() => abort.abort(reason), 10) };
    const answer = failing(429, { 'retry-after': '20' });
    const { error } = await trying(answer, { ...read, signal: abort.signal }, options);
    expect(error).toBe(reason);
  });

  it('after close is refused, not retried for half a minute', async () => {
    await using server = await startStandInServer(good);
    const transport = createTransport(server.access());
    await transport.json(read);
    await transport.close();
    const began = performance.now();
    await expect(transport.json(read)).rejects.toBeInstanceOf(KubeError);
    expect(performance.now() - began).toBeLessThan(10_000);
  });
});

describe('credentials', () => {
  const tokens = (...all: string[]): Credentials & { refreshed: number } => ({
    source: 'a test',
    refreshed: 0,
    async current() {
      return { token: all[Math.min(this.refreshed, all.length - 1)] };
    },
    async refresh() {
      this.refreshed += 1;
    },
  });
  const accepting =
    (token: string): RequestHandler =>
    (seen, response) =>
      seen.headers.authorization === `Bearer ${token}` ? good(seen, response) : failing(401)(seen, response);

  it.each([read, write, { ...write, retry: 'never' as const }])(
    'that are refused are renewed once, and $what is sent again ($retry)',
    async (request) => {
      const credentials = tokens('old', 'new');
      const { value, seen } = await trying(accepting('new'), request, {}, credentials);
      expect(value).toEqual(ok);
      expect(seen).toHaveLength(2);
      expect(credentials.refreshed).toBe(1);
    },
  );

  it('that are refused again are an error', async () => {
    const credentials = tokens('old', 'new');
    const { code, seen } = await trying(accepting('another'), read, {}, credentials);
    expect(code).toBe('SLW_KUBE_UNAUTHORIZED');
    expect(seen).toHaveLength(2);
    expect(credentials.refreshed).toBe(1);
  });

  it('that have expired are reported with the time', async () => {
    const claims = Buffer.from(JSON.stringify({ exp: 1_700_000_000 })).toString('base64url');
    const { error } = await trying(failing(401), read, {}, tokens(`a.${claims}.c`));
    expect(error).toMatchObject({
      code: 'SLW_KUBE_UNAUTHORIZED',
      message:
        'get Thing a: the token expired at 2023-11-14T22:13:20.000Z. Log in again, or pass a kubeconfig with a valid token',
    });
  });

  it('that are invalid in a header are refused before anything is sent, and not quoted', async () => {
    const { error, seen } = await trying(good, write, {}, fixedCredentials({ token: 'sec\nret' }, 'token in k'));
    expect(error).toMatchObject({
      code: 'SLW_KUBE_CREDENTIALS',
      message: 'token in k: expected a bearer token on one line without spaces, found something else',
    });
    expect(seen).toHaveLength(0);
  });
});

describe('the last check before a write', () => {
  it('is repeated after every wait, and its error is thrown', async () => {
    const refusal = new Error('not the leader any more');
    let checks = 0;
    const beforeSend = (): void => {
      checks += 1;
      if (checks === 2) throw refusal;
    };
    const { error, seen } = await trying(failing(503), { ...write, beforeSend });
    expect(error).toBe(refusal);
    expect(seen).toHaveLength(1);
  });

  it('is made once connected, not before: connecting may take long', async () => {
    await using server = await startStandInServer(good);
    let connected = 0;
    const transport = createTransport(server.access());
    await transport.json({
      ...write,
      beforeSend: () => {
        connected = server.openSockets;
      },
    });
    expect(connected).toBe(1);
    await transport.close();
  });

  it('that refuses leaves the connection usable for others', async () => {
    await using server = await startStandInServer(good);
    const transport = createTransport(server.access());
    const refusing = {
      ...write,
      beforeSend: () => {
        throw new KubeError('SLW_KUBE_NOT_LEADER', 'no');
      },
    };
    await expect(transport.json(refusing)).rejects.toMatchObject({ code: 'SLW_KUBE_NOT_LEADER' });
    expect(await transport.json(write)).toEqual(ok);
    expect(server.requests).toHaveLength(1);
    await transport.close();
  });
});

describe('an overloaded server', () => {
  it('gets fewer concurrent requests', async () => {
    let running = 0;
    let most = 0;
    let overloaded = true;
    const allRunning = Promise.withResolvers<void>();
    await using server = await startStandInServer(async (seen, response) => {
      const isFirst = overloaded;
      running += 1;
      most = Math.max(most, running);
      if (isFirst && running === 8) allRunning.resolve();
      await (isFirst ? allRunning.promise : new Promise((resolve) => setTimeout(resolve, 20)));
      running -= 1;
      return isFirst ? failing(429, { 'retry-after': '0' })(seen, response) : good(seen, response);
    });
    const transport = createTransport(server.access(), { maximumInFlight: 8 });
    const first = Promise.all(Array.from({ length: 8 }, () => transport.json(read)));
    await allRunning.promise;
    overloaded = false;
    most = 0;
    await first;
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThan(8);
    await transport.close();
  });
});

describe('a long response', () => {
  it('is returned byte by byte as it arrives, and its reader closes the connection', async () => {
    await using server = await startStandInServer((_, response) => {
      response.writeHead(200);
      response.write('one');
    });
    const transport = createTransport(server.access());
    const stream = await transport.open(read);
    const received: string[] = [];
    for await (const chunk of stream) {
      received.push(chunk.toString());
      break;
    }
    expect(received).toEqual(['one']);
    await until(() => expect(server.openSockets).toBe(0), 'process');
    await transport.close();
  });

  it('that is never read is closed cleanly', async () => {
    await using server = await startStandInServer((_, response) => void response.writeHead(200).write('one'));
    const transport = createTransport(server.access());
    (await transport.open(read)).destroy();
    await until(() => expect(server.openSockets).toBe(0), 'process');
    await transport.close();
  });

  it.each<[string, RequestHandler, KubeErrorCode]>([
    [
      'breaks off',
      (_, response) => {
        response.writeHead(200).write('one');
        setImmediate(() => response.socket?.resetAndDestroy());
      },
      'SLW_KUBE_UNREACHABLE',
    ],
    ['falls silent', (_, response) => void response.writeHead(200).write('one'), 'SLW_KUBE_TIMEOUT'],
  ])('that %s ends with a KubeError', async (_, answer, code) => {
    await using server = await startStandInServer(answer);
    const transport = createTransport(server.access());
    const stream = await transport.open({ ...read, silenceMs: 200 });
    const reading = (async () => {
      for await (const chunk of stream) expect(chunk.toString()).toBe('one');
    })();
    await expect(reading).rejects.toMatchObject({ code });
    await transport.close();
  });

  it('is retried while it cannot be opened', async () => {
    await using server = await startStandInServer(inTurn(failing(503), reset, good));
    const transport = createTransport(server.access());
    (await transport.open(read)).destroy();
    expect(server.requests).toHaveLength(3);
    await transport.close();
  });

  it('does not occupy a slot of the short ones', async () => {
    await using server = await startStandInServer((seen, response) =>
      seen.query.has('long') ? void response.writeHead(200).write('x') : good(seen, response),
    );
    const transport = createTransport(server.access(), { maximumInFlight: 1 });
    const watches = await Promise.all([1, 2, 3].map(() => transport.open({ ...read, query: { long: '1' } })));
    expect(await transport.json(read)).toEqual(ok);
    for (const watch of watches) watch.destroy();
    await transport.close();
  });
});

describe('whether a request may be sent again', () => {
  const error = (code: KubeErrorCode, status?: number, retryAfterMs?: number): KubeError =>
    new KubeError(code, 'x', { status, retryAfterMs });

  it.each<[string, KubeError, boolean, boolean]>([
    // what happened, a read, a write
    ['throttled', error('SLW_KUBE_THROTTLED', 429), true, true],
    ['not ready', error('SLW_KUBE_SERVER', 503), true, true],
    ['unreachable', error('SLW_KUBE_UNREACHABLE'), true, true],
    ['broken', error('SLW_KUBE_SERVER', 500), true, false],
    ['late', error('SLW_KUBE_TIMEOUT'), true, false],
    ['unknown', error('SLW_KUBE_OUTCOME_UNKNOWN', 503), false, false],
    ['conflict', error('SLW_KUBE_CONFLICT', 409), false, false],
    ['blocked', error('SLW_KUBE_BLOCKED', 429), false, false],
    ['untrusted', error('SLW_KUBE_TLS'), false, false],
    ['gone', error('SLW_KUBE_GONE', 410), false, false],
  ])('%s', (_, failure, asRead, asWrite) => {
    expect(retryDelay(failure, 'always', 0) !== undefined).toBe(asRead);
    expect(retryDelay(failure, 'unsent', 0) !== undefined).toBe(asWrite);
    expect(retryDelay(failure, 'never', 0)).toBeUndefined();
  });

  it('waits twice as long each time, up to five seconds, with jitter', () => {
    const failure = error('SLW_KUBE_UNREACHABLE');
    for (const [tries, most] of [100, 200, 400, 800, 1600, 3200, 5000, 5000].entries()) {
      const delays = Array.from({ length: 20 }, () => retryDelay(failure, 'always', tries) ?? 0);
      expect(Math.max(...delays)).toBeLessThanOrEqual(most);
      expect(Math.min(...delays)).toBeGreaterThanOrEqual(most / 2);
      expect(new Set(delays).size).toBeGreaterThan(1);
    }
    expect(retryDelay(failure, 'always', 100_000)).toBeLessThanOrEqual(5000);
  });

  it('never waits less than the server asked', () => {
    expect(retryDelay(error('SLW_KUBE_THROTTLED', 429, 7000), 'unsent', 0)).toBe(7000);
    expect(retryDelay(error('SLW_KUBE_SERVER', 503, 7000), 'always', 0)).toBe(7000);
  });
});

it('the path, the query and the headers are as requested, below the path of the server', async () => {
  await using server = await startStandInServer(good);
  const access = server.access();
  const transport = createTransport({ ...access, server: `${access.server}/k8s/clusters/c1` }, { userAgent: 'me/1' });
  await transport.json({ ...write, query: { fieldManager: 'a b' }, contentType: 'application/x' });
  const [seen] = server.requests;
  expect(seen).toMatchObject({ method: 'POST', path: '/k8s/clusters/c1/api' });
  expect(seen?.query.get('fieldManager')).toBe('a b');
  expect(seen?.headers).toMatchObject({
    accept: 'application/json',
    'user-agent': 'me/1',
    'content-type': 'application/x',
  });
  expect(seen?.headers.authorization).toBeUndefined();
  await transport.close();
});

async function accessToNobody() {
  await using server = await startStandInServer(good);
  return server.access();
}
