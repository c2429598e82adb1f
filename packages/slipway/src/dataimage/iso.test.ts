import { createServer, type RequestListener, type Server } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { checkImageUrl, checkIso } from './iso.ts';

describe('the URL of an ISO', () => {
  it.each(['http://10.0.0.5/a.iso', 'https://isos.example.com:8443/a.iso?version=2', 'http://[fd00::5]/a.iso'])(
    '%s can be attached',
    (text) => {
      expect(checkImageUrl(text).href).toBe(text);
    },
  );

  it.each([
    ['another scheme', 'ftp://10.0.0.5/a.iso', 'found "ftp://10.0.0.5/a.iso"'],
    ['a file', 'file:///a.iso', 'expected http://HOST/PATH'],
    ['no scheme', '10.0.0.5/a.iso', 'expected http://HOST/PATH'],
    ['no host', 'http://', 'expected http://HOST/PATH'],
    ['a letter outside of ASCII', 'http://10.0.0.5/ä.iso', 'percent-encoded'],
    ['a space', 'http://10.0.0.5/a b.iso', 'expected http://HOST/PATH'],
    ['one that is too long', `http://10.0.0.5/${'a'.repeat(2048)}`, 'at most 2048 characters, found 2064'],
    ['a password', 'http://me:hunter2@10.0.0.5/a.iso', 'expected no user name or password'],
    ['a password in a scheme that is refused', 'ftp://me:hunter2@10.0.0.5/a.iso', 'found "ftp://…@10.0.0.5/a.iso"'],
  ])('%s is refused without printing secrets', (_, text, said) => {
    const refused = (): unknown => checkImageUrl(text);
    expect(refused).toThrow(
      expect.objectContaining({ code: 'SLW_CLI_DATA_IMAGE', message: expect.stringContaining(said) }),
    );
    expect(refused).not.toThrow(/hunter2/);
  });
});

/** Just enough of an ISO 9660 image to be recognised. */
const iso = Buffer.alloc(40 * 2048);
iso.write('\u0001CD001\u0001', 16 * 2048, 'latin1');

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
  server = undefined;
});

async function serve(listener: RequestListener): Promise<URL> {
  const started = createServer(listener);
  server = started;
  await new Promise<void>((resolve) => started.listen(0, '127.0.0.1', resolve));
  const address = started.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return new URL(`http://127.0.0.1:${address.port}/a.iso`);
}

const ranged =
  (bytes: Buffer): RequestListener =>
  ({ headers }, answer) => {
    const [, from = '0', to = '0'] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '') ?? [];
    if (Number(from) >= bytes.length) answer.writeHead(416).end();
    else answer.writeHead(206).end(bytes.subarray(Number(from), Number(to) + 1));
  };

describe('the check of an ISO', () => {
  it('reads only five bytes', async () => {
    const asked: (string | undefined)[] = [];
    const url = await serve((request, answer) => {
      asked.push(request.headers.range);
      ranged(iso)(request, answer);
    });
    expect(await checkIso(url)).toEqual({ ok: true });
    expect(asked).toEqual(['bytes=32769-32773']);
  });

  it('works without range support, and does not read the whole file', async () => {
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    const url = await serve((_, answer) => {
      answer.on('close', resolve).write(iso);
      // The response never ends, so reading on would hang.
    });
    expect(await checkIso(url)).toEqual({ ok: true });
    await closed;
  });

  it.each<[string, RequestListener, string]>([
    ['other content', ranged(Buffer.alloc(40 * 2048)), 'is not an ISO 9660 image'],
    ['a short file', ranged(Buffer.from('<html>')), 'is not an ISO 9660 image'],
    ['a short file without ranges', (_, answer) => answer.end('<html>'), 'is not an ISO 9660 image'],
    ['a missing file', (_, answer) => answer.writeHead(404).end(), 'returns HTTP 404 Not Found'],
    ['a page with a password', (_, answer) => answer.writeHead(401).end(), 'returns HTTP 401'],
    ['a closed connection', ({ socket }) => socket.destroy(), 'does not respond'],
  ])('%s is not an ISO', async (_, listener, problem) => {
    expect(await checkIso(await serve(listener))).toEqual({ ok: false, problem: expect.stringContaining(problem) });
  });

  it('stops waiting for a silent server', async () => {
    const found = await checkIso(await serve(() => {}), 50);
    expect(found).toEqual({ ok: false, problem: 'does not respond: no response within 0.05 s' });
  });

  it('reports a refused connection', async () => {
    const url = await serve(() => {});
    await new Promise((resolve) => server?.close(resolve));
    expect(await checkIso(url)).toEqual({ ok: false, problem: expect.stringContaining('ECONNREFUSED') });
  });
});
