import { type AddressInfo, createServer, type Socket } from 'node:net';
import { rootCertificates } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { createAgent, inspectCertificates, trustAuthorities } from './agent.ts';
import { readBounded } from './exchange.ts';
import { classifyFailure, type FailureKind } from './failure.ts';

const [one = '', two = ''] = rootCertificates;
const broken = one.replace(/\n.{20}/, '\nAAAAAAAAAAAAAAAAAAAA');

describe('certificates in PEM', () => {
  it.each<[string, string, number, number | null]>([
    ['none', 'no certificate', 0, null],
    ['one', one, 1, null],
    ['two, with text between', `${one}\nof a friend\n${two}`, 2, null],
    ['a broken one', `${one}\n${broken}\n${two}`, 3, 2],
  ])('%s', (_, pem, found, firstUnreadable) => {
    expect(inspectCertificates(pem)).toEqual({ found, firstUnreadable });
  });

  it('the trust store is cached for the same authorities', () => {
    const store = trustAuthorities([one]);
    expect(trustAuthorities([one])).toBe(store);
    expect(trustAuthorities([two])).not.toBe(store);
  });
});

describe('a connection', () => {
  const ends: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0)) await end();
  });

  /** Responds with these bytes. Null: closes the connection. */
  async function listen(answer: string | null): Promise<number> {
    const server = createServer((socket: Socket) => {
      socket.on('error', () => {});
      socket.once('data', () => (answer === null ? socket.destroy() : socket.end(answer)));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    ends.push(() => new Promise((resolve) => server.close(resolve)));
    return (server.address() as AddressInfo).port;
  }

  async function fetchText(origin: string): Promise<string> {
    const agent = createAgent({ protocol: new URL(origin).protocol, connectTimeoutMs: 5000 });
    ends.unshift(() => agent.destroy());
    const { body } = await agent.request({ origin, path: '/', method: 'GET' });
    return String(await readBounded(body, 1000));
  }

  it('returns the response', async () => {
    const port = await listen('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok');
    expect(await fetchText(`http://127.0.0.1:${port}`)).toBe('ok');
  });

  // These are the real errors of the undici and Node versions in use.
  it.each<[FailureKind, string, string | null]>([
    ['closed', 'http', null],
    ['not-http', 'http', '220 mail.example.com ESMTP\r\n'],
    ['large-headers', 'http', `HTTP/1.1 200 OK\r\nx: ${'x'.repeat(70_000)}\r\n\r\n`],
    ['closed', 'http', 'HTTP/1.1 200 OK\r\ncontent-length: 20\r\n\r\nhalf'],
    ['tls', 'https', 'HTTP/1.1 400 Bad Request\r\n\r\n'],
  ])('fails as %s: %s, %j', async (kind, protocol, answer) => {
    const port = await listen(answer);
    const error = await fetchText(`${protocol}://127.0.0.1:${port}`).then(
      () => undefined,
      (caught: unknown) => caught,
    );
    expect(classifyFailure(error).kind).toBe(kind);
  });

  it('fails as unreachable if nothing listens', async () => {
    const port = await listen(null);
    for (const end of ends.splice(0)) await end();
    const error = await fetchText(`http://127.0.0.1:${port}`).catch((caught: unknown) => caught);
    expect(classifyFailure(error)).toEqual({ kind: 'unreachable', code: 'ECONNREFUSED' });
  });
});
