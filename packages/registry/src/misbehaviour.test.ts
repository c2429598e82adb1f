import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { gzipSync } from 'node:zlib';
import { always, cutHalfway, type Fault, firstTimes } from '@slipway/testing/fake-http-server';
import { describe, expect, it } from 'vitest';
import { RegistryError } from './errors.ts';
import type { Registry, RegistryOptions } from './registry.ts';
import { createTestClient } from './testing/client.ts';
import { buildBlob, buildImage, buildLayer } from './testing/image.ts';
import type { Blob, TestImage } from './testing/image.ts';
import { startMisbehavingRegistry } from './testing/misbehaving-registry.ts';
import type { MisbehavingRegistry } from './testing/misbehaving-registry.ts';

const SECRET = 'hunter2';
const FILE_SIZE = 600_000;

async function oneFileImage(): Promise<TestImage & { layer: Blob }> {
  // Incompressible content: the blob arrives in many chunks, and half of it ends in the middle of the file.
  const content = randomBytes(FILE_SIZE);
  const layer = await buildLayer([{ name: 'file', content }]);
  return { ...buildImage([layer], { labels: { name: 'right' } }), layer };
}

const readFile = (registry: Registry, host: string): Promise<Uint8Array | null> =>
  registry.readFile(`${host}/app:1`, 'file', { maxBytes: FILE_SIZE });

async function catchFailure(work: Promise<unknown>): Promise<RegistryError> {
  const error = await work.then(
    () => new Error('it did not fail'),
    (error: unknown) => error,
  );
  if (!(error instanceof RegistryError)) throw error;
  expect(`${error.stack}`).not.toContain(SECRET);
  return error;
}

interface Case {
  fault: (image: { layer: Blob }) => Fault;
  code: string;
  /** How often the layer is requested. */
  asked: number;
  message: RegExp;
  options?: RegistryOptions;
}

const status = (code: number, headers: Record<string, string> = {}) =>
  always(/blobs/, (response) => response.writeHead(code, headers).end('{"errors":[{"code":"DENIED"}]}'));

const cases: Record<string, Case> = {
  '401': { fault: () => status(401), code: 'UNAUTHORIZED', asked: 1, message: /The pull secret has no login for it/ },
  '403': { fault: () => status(403), code: 'UNAUTHORIZED', asked: 1, message: /found status 403 \(DENIED\)/ },
  '404': { fault: () => status(404), code: 'NOT_FOUND', asked: 1, message: /Check the name, tag and digest/ },
  '418': { fault: () => status(418), code: 'ANSWER', asked: 1, message: /found status 418/ },
  '429': { fault: () => status(429), code: 'THROTTLED', asked: 3, message: /try again later.*\(tried 3 times\)/ },
  '500': { fault: () => status(500), code: 'SERVER', asked: 3, message: /found status 500.*\(tried 3 times\)/ },
  'cut mid-layer': {
    fault: ({ layer }) => always(/blobs/, cutHalfway(layer.bytes)),
    code: 'CUT',
    asked: 3,
    message: /expected the complete response, but the connection closed early.*\(tried 3 times\)/,
  },
  'an early end that looks complete': {
    fault: ({ layer }) => always(/blobs/, (response) => response.end(layer.bytes.subarray(0, 99))),
    code: 'CUT',
    asked: 3,
    message: /expected \d+ bytes, found only 99/,
  },
  'a wrong digest': {
    fault: ({ layer }) =>
      always(/blobs/, (response) => {
        // At the start: a damaged archive is still read to its end, because the digest shows what is at fault.
        response.end(Buffer.from(layer.bytes).fill(0xff, 10, 20));
      }),
    code: 'DIGEST',
    asked: 1,
    message: /expected the digest sha256:\w+, found sha256:\w+\. The content was discarded/,
  },
  'too many bytes': {
    fault: ({ layer }) => always(/blobs/, (response) => response.end(Buffer.concat([layer.bytes, layer.bytes]))),
    code: 'DIGEST',
    asked: 1,
    message: /expected \d+ bytes, found more/,
  },
  'silence before the answer': {
    fault: () => always(/blobs/, () => {}),
    code: 'SILENT',
    asked: 2,
    message: /expected a response, but no data arrived before the timeout/,
    options: { silenceMs: 300, retries: 1 },
  },
  'silence in the middle': {
    fault: ({ layer }) => always(/blobs/, (response) => response.writeHead(200).write(layer.bytes.subarray(0, 100))),
    code: 'SILENT',
    asked: 2,
    message: /expected the rest of the response, but no data arrived before the timeout/,
    options: { silenceMs: 300, retries: 1 },
  },
  'a trickle that never ends': {
    fault: () =>
      always(/blobs/, (response) => {
        response.writeHead(200);
        const drip = setInterval(() => response.write('x'), 5);
        response.on('close', () => clearInterval(drip));
      }),
    code: 'SILENT',
    asked: 3,
    message: /expected the complete response within 0.1 s/,
    options: { layerMs: 100 },
  },
  'a connection that is closed': {
    fault: () => always(/blobs/, (response) => response.socket?.destroy()),
    code: 'UNREACHABLE',
    asked: 3,
    message: /expected a connection, found none/,
  },
  'something that is not HTTP': {
    fault: () => always(/blobs/, (response) => response.socket?.end('SSH-2.0-OpenSSH\r\n')),
    code: 'ANSWER',
    asked: 1,
    message: /expected HTTP, found something else/,
  },
};

describe('a registry that fails', () => {
  it.each(Object.entries(cases))(
    'with %s: never returns a file, and the message contains a remediation',
    async (_, one) => {
      await using server = await startMisbehavingRegistry();
      await using registry = createTestClient([server], one.options);
      const image = await oneFileImage();
      server.put('1', image);
      server.fail(one.fault(image));
      const failure = await catchFailure(readFile(registry, server.host));
      expect(failure.code).toBe(`SLW_REGISTRY_${one.code}`);
      expect(failure.message).toMatch(one.message);
      expect(failure.message).toContain(`${server.host}/app:1: layer ${image.layer.digest} from ${server.host}: `);
      expect(server.paths.filter((path) => path.startsWith('blobs'))).toHaveLength(one.asked);
      expect(registry.clock.slept).toHaveLength(one.asked - 1);
    },
  );

  it.each(['429', '500', 'cut mid-layer', 'silence in the middle', 'a connection that is closed'])(
    'with %s, and then no more, gives the file',
    async (name) => {
      await using server = await startMisbehavingRegistry();
      const { fault, options } = cases[name] as Case;
      await using registry = createTestClient([server], options);
      const image = await oneFileImage();
      server.put('1', image);
      const failing = fault(image);
      let left = options?.retries ?? 2;
      const times = left;
      server.fail((seen, response) => seen.path.includes('blobs') && left-- > 0 && failing(seen, response));
      expect(await readFile(registry, server.host)).toHaveLength(FILE_SIZE);
      expect(registry.clock.slept).toHaveLength(times);
    },
  );

  it('with 429: Retry-After is honored', async () => {
    await using server = await startMisbehavingRegistry();
    await using registry = createTestClient([server]);
    server.put('1', await oneFileImage());
    server.fail(firstTimes(1, /manifests/, (response) => response.writeHead(429, { 'retry-after': '17' }).end()));
    await registry.inspect(`${server.host}/app:1`);
    expect(registry.clock.slept).toEqual([17_000]);
  });

  it('with 503 and a Retry-After of minutes: it is not asked again before, however often callers retry', async () => {
    await using server = await startMisbehavingRegistry();
    await using registry = createTestClient([server]);
    server.put('1', await oneFileImage());
    server.fail(firstTimes(1, /manifests/, (response) => response.writeHead(503, { 'retry-after': '300' }).end()));
    const image = `${server.host}/app:1`;
    const failure = await catchFailure(registry.inspect(image));
    expect(failure).toMatchObject({ code: 'SLW_REGISTRY_SERVER', passing: true, retryAfterMs: 300_000, status: 503 });
    expect(registry.clock.slept).toEqual([]);
    const asked = server.requests.length;
    registry.clock.advance(100_000);
    const resting = await catchFailure(registry.inspect(image));
    expect(resting).toMatchObject({ code: 'SLW_REGISTRY_THROTTLED', passing: true });
    expect(resting.message).toContain('the host asked for a pause, of which 200 s are left');
    expect(server.requests).toHaveLength(asked);
    // A caller that can wait for the rest does.
    registry.clock.advance(199_000);
    await registry.inspect(image);
    expect(registry.clock.slept).toHaveLength(1);
  });

  it('is retried with backoff', async () => {
    await using server = await startMisbehavingRegistry();
    await using registry = createTestClient([server], { retries: 4 });
    server.fail(always(/./, (response) => response.writeHead(500).end()));
    await catchFailure(registry.inspect(`${server.host}/app:1`));
    const { slept } = registry.clock;
    expect(slept).toHaveLength(4);
    for (const [round, ms] of slept.entries()) {
      expect(ms).toBeGreaterThanOrEqual(250 * 2 ** round);
      expect(ms).toBeLessThanOrEqual(500 * 2 ** round);
    }
  });

  it('that is not running: the error is unreachable', async () => {
    const server = await startMisbehavingRegistry();
    await server[Symbol.asyncDispose]();
    await using registry = createTestClient([server]);
    const failure = await catchFailure(registry.inspect(`${server.host}/app:1`));
    expect(failure.code).toBe('SLW_REGISTRY_UNREACHABLE');
    expect(failure.message).toContain('(ECONNREFUSED)');
  });

  it('with a wrong digest header for a tag: the manifest is rejected', async () => {
    await using server = await startMisbehavingRegistry();
    await using registry = createTestClient([server]);
    const { manifest } = await oneFileImage();
    server.fail(
      always(/manifests/, (response) => {
        response.writeHead(200, { 'docker-content-digest': buildBlob('other', '').digest }).end(manifest.bytes);
      }),
    );
    expect((await catchFailure(registry.inspect(`${server.host}/app:1`))).code).toBe('SLW_REGISTRY_DIGEST');
  });

  it('with another manifest or config for a digest: the content is rejected', async () => {
    await using server = await startMisbehavingRegistry();
    await using registry = createTestClient([server]);
    const image = await oneFileImage();
    const wanted = `${server.host}/app@${image.manifest.digest}`;
    const other = buildImage([], { labels: { name: 'wrong' } });
    server.fail(firstTimes(1, /manifests/, (response) => response.end(other.manifest.bytes)));
    server.fail(always(/blobs/, (response) => response.end(other.config.bytes)));
    server.put('1', image);
    expect((await catchFailure(registry.inspect(wanted))).code).toBe('SLW_REGISTRY_DIGEST');
    expect((await catchFailure(registry.inspect(wanted))).code).toBe('SLW_REGISTRY_DIGEST');
  });

  it('with an endless body: reading stops at the limit', async () => {
    await using server = await startMisbehavingRegistry();
    await using registry = createTestClient([server]);
    server.fail(
      always(/manifests/, (response) => {
        pipeline(Readable.from(endless()), response).catch(() => {});
      }),
    );
    expect((await catchFailure(registry.inspect(`${server.host}/app:1`))).code).toBe('SLW_REGISTRY_LIMIT');
  });
});

function* endless(): Generator<Buffer> {
  for (;;) yield Buffer.alloc(256 * 1024, ' ');
}

describe('mirrors', () => {
  const source = 'source.example.com';
  const ruleFor = (servers: readonly MisbehavingRegistry[]) => ({
    source,
    mirrors: servers.map(({ host }) => ({ location: `${host}/copy`, plainHttp: true })),
    fallback: false,
    for: 'all' as const,
    blocked: false,
  });

  it.each([
    '404',
    '500',
    '401',
    'cut mid-layer',
    'a wrong digest',
    'silence in the middle',
    'a connection that is closed',
  ])('the next one is asked after %s, without a wait', async (name) => {
    await using bad = await startMisbehavingRegistry();
    await using good = await startMisbehavingRegistry();
    const { fault, options } = cases[name] as Case;
    await using registry = createTestClient([], { ...options, mirrors: [ruleFor([bad, good])] });
    const image = await oneFileImage();
    for (const server of [bad, good]) server.put('1', image);
    bad.fail(fault(image));
    expect(await readFile(registry, source)).toHaveLength(FILE_SIZE);
    expect(registry.clock.slept).toEqual([]);
    expect(good.requests[0]?.path).toBe(`/v2/copy/app/blobs/${image.layer.digest}`);
  });

  it('one that succeeded is tried first for the rest of the image', async () => {
    await using bad = await startMisbehavingRegistry();
    await using good = await startMisbehavingRegistry();
    await using registry = createTestClient([], { mirrors: [ruleFor([bad, good])] });
    good.put('1', await oneFileImage());
    const { reference } = await registry.inspect(`${source}/app:1`);
    expect(reference).toMatch(/^source\.example\.com\/app@sha256:/);
    expect(bad.requests).toHaveLength(1);
  });

  it('if all fail, the error lists each with its reason, and transient failures are retried', async () => {
    await using gone = await startMisbehavingRegistry();
    await using broken = await startMisbehavingRegistry();
    broken.fail(always(/./, (response) => response.writeHead(500).end()));
    await using registry = createTestClient([], { mirrors: [ruleFor([gone, broken])] });
    const failure = await catchFailure(registry.inspect(`${source}/app:1`));
    expect(failure.code).toBe('SLW_REGISTRY_SERVER');
    expect(failure.failures.map(({ code }) => code)).toEqual(['SLW_REGISTRY_NOT_FOUND', 'SLW_REGISTRY_SERVER']);
    expect(failure.message).toContain('source.example.com/app:1: manifest 1: all 2 sources failed');
    expect(failure.message).toMatch(new RegExp(`${gone.host}: .*MANIFEST_UNKNOWN.*\\[SLW_REGISTRY_NOT_FOUND\\]`));
    expect(failure.message).toMatch(new RegExp(`${broken.host}: .*\\(tried 3 times\\) \\[SLW_REGISTRY_SERVER\\]`));
    expect([gone.requests.length, broken.requests.length]).toEqual([1, 3]);
  });

  it('the image is not found only if all of them return not found', async () => {
    await using one = await startMisbehavingRegistry();
    await using two = await startMisbehavingRegistry();
    await using registry = createTestClient([], { mirrors: [ruleFor([one, two])] });
    expect((await catchFailure(registry.inspect(`${source}/app:1`))).code).toBe('SLW_REGISTRY_NOT_FOUND');
  });
});

describe('a bomb', () => {
  it('from one mirror does not prevent the next one from returning the file', async () => {
    await using bad = await startMisbehavingRegistry();
    await using good = await startMisbehavingRegistry();
    const image = await oneFileImage();
    for (const server of [bad, good]) server.put('1', image);
    // No longer than the layer, so that only its content differs.
    const bomb = gzipSync(Buffer.alloc(40_000_000)).subarray(0, image.layer.bytes.length);
    bad.fail(always(/blobs/, (response) => response.end(bomb)));
    const mirrors = [bad, good].map(({ host }) => ({ location: host, plainHttp: true }));
    const rule = { source: 'source.example.com', mirrors, fallback: false, for: 'all' as const, blocked: false };
    await using registry = createTestClient([], { mirrors: [rule], layerBytes: 1_000_000 });
    expect(await readFile(registry, 'source.example.com')).toHaveLength(FILE_SIZE);
  });
});
