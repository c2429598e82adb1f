import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { gunzip, gzip } from '../compression.ts';
import { decodeDataUrl, encodeDataUrl } from '../data-url.ts';
import { parse } from '../parse.ts';
import type { AnyConfig } from '../spec/index.ts';
import type { Fetcher, FetchRequest } from './fetcher.ts';
import { digest } from './hash.ts';
import { resolve, type ResolveOptions } from './index.ts';
import { maskUrl } from './problem.ts';

const NAME = 'MachineConfig 99-worker';
const PEM = '-----BEGIN CERTIFICATE-----\nMAIwAA==\n-----END CERTIFICATE-----\n';
const bytes = (text: string) => new TextEncoder().encode(text);

/** A set of URLs; records requests. */
class World {
  readonly asked: FetchRequest[] = [];
  readonly #pages: Record<string, string | Uint8Array | object>;

  constructor(pages: Record<string, string | Uint8Array | object>) {
    this.#pages = pages;
  }

  readonly fetch: Fetcher = async (request) => {
    this.asked.push(request);
    const page = this.#pages[request.url];
    if (page === undefined) return { ok: false, problem: 'the server answers 404' };
    if (page instanceof Uint8Array) return { ok: true, bytes: page };
    return { ok: true, bytes: bytes(typeof page === 'string' ? page : JSON.stringify(page)) };
  };

  get urls(): string[] {
    return this.asked.map((request) => request.url);
  }
}

function read(input: object): AnyConfig {
  const { config, report } = parse(input);
  if (config === null) throw new Error(`the test config does not parse: ${JSON.stringify(report)}`);
  return config;
}

const run = (world: World, input: object, options: Partial<ResolveOptions> = {}) =>
  resolve(read(input), { name: NAME, fetch: world.fetch, ...options });

const file = (path: string, contents: object) => ({ path, contents });
const withFiles = (...files: object[]) => ({ ignition: { version: '3.4.0' }, storage: { files } });
const naming = (source: string, version = '3.4.0') => ({ ignition: { version, config: { merge: [{ source }] } } });

function fileAt(config: AnyConfig | null, path: string) {
  return config?.storage?.files?.find((each) => each.path === path)?.contents;
}

async function readFileContents(config: AnyConfig | null, path: string): Promise<string> {
  const contents = fileAt(config, path);
  const decoded = decodeDataUrl(contents?.source ?? '');
  if (!decoded.ok) return decoded.problem;
  if (contents?.compression !== 'gzip') return new TextDecoder().decode(decoded.bytes);
  const unpacked = await gunzip(decoded.bytes, { maxBytes: 1e6 });
  return unpacked.ok ? new TextDecoder().decode(unpacked.bytes) : unpacked.problem;
}

describe('resolve', () => {
  it('does not change a config without remote references, nor any byte of its data URLs', async () => {
    const config = read(
      withFiles(
        file('/a', { source: 'data:text/plain;charset=utf-8;base64,YQ==' }),
        file('/b', { source: 'data:,b%62' }),
        file('/c', { source: '' }),
        { path: '/d' },
      ),
    );
    const world = new World({});
    expect(await resolve(config, { name: NAME, fetch: world.fetch })).toEqual({ config, report: [] });
    expect(world.urls).toEqual([]);
  });

  it('embeds files, appended parts, certificate authorities and key files in the config', async () => {
    const world = new World({
      'https://h/a': 'A',
      'https://h/b': 'B',
      'https://h/ca': PEM,
      'https://h/key': 'secret',
    });
    const { config, report } = await run(world, {
      ignition: { version: '3.4.0', security: { tls: { certificateAuthorities: [{ source: 'https://h/ca' }] } } },
      storage: {
        files: [
          {
            ...file('/a', {
              source: 'https://h/a#part',
              httpHeaders: [{ name: 'X-Token', value: 't' }],
              verification: { hash: `sha256-${await digest(bytes('A'), 'SHA-256')}` },
            }),
            append: [{ source: 'https://h/b' }],
          },
        ],
        luks: [{ name: 'data', device: '/dev/sdb', keyFile: { source: 'https://h/key' } }],
      },
    });
    expect(report).toEqual([]);
    expect(config).toEqual({
      ignition: {
        version: '3.4.0',
        security: { tls: { certificateAuthorities: [{ source: encodeDataUrl(bytes(PEM)) }] } },
      },
      storage: {
        files: [
          {
            path: '/a',
            contents: {
              source: 'data:,A',
              verification: { hash: `sha256-${await digest(bytes('A'), 'SHA-256')}` },
            },
            append: [{ source: 'data:,B' }],
          },
        ],
        luks: [{ name: 'data', device: '/dev/sdb', keyFile: { source: 'data:,secret' } }],
      },
    });
    expect(world.asked.find(({ url }) => url === 'https://h/a')).toMatchObject({
      headers: [{ name: 'X-Token', value: 't' }],
      certificateAuthorities: [PEM],
    });
  });

  it('verifies gzip and keeps it compressed, and compresses large text', async () => {
    const long = 'kernel.pid_max = 4194304\n'.repeat(500);
    const packed = await gzip(bytes(long));
    const world = new World({ 'https://h/gz': packed, 'https://h/long': long });
    const hash = `sha512-${await digest(bytes(long), 'SHA-512')}`;
    const input = withFiles(
      file('/gz', { source: 'https://h/gz', compression: 'gzip', verification: { hash } }),
      file('/long', { source: 'https://h/long', verification: { hash } }),
    );
    const { config, report } = await run(world, input);
    expect(report).toEqual([]);
    expect(fileAt(config, '/gz')?.source).toBe(encodeDataUrl(packed));
    expect(fileAt(config, '/long')?.compression).toBe('gzip');
    expect(await readFileContents(config, '/gz')).toBe(long);
    expect(await readFileContents(config, '/long')).toBe(long);
    const plain = await run(world, input, { compress: false });
    expect(fileAt(plain.config, '/long')?.source).toBe(encodeDataUrl(bytes(long)));
  });

  it('fetches the same URL once, and every other one', async () => {
    const world = new World({ 'https://h/a': 'A', 'https://h/b': 'B' });
    const input = withFiles(
      ...['a', 'a', 'b'].map((name, index) => file(`/${index}`, { source: `https://h/${name}` })),
    );
    await run(world, input);
    expect(world.urls.sort()).toEqual(['https://h/a', 'https://h/b']);
  });

  it('returns the same result when resolved again', async () => {
    const world = new World({ 'https://h/a': 'A\n'.repeat(2000), 'https://h/b': 'é b', 'https://h/c': PEM });
    const source = fc.constantFrom('https://h/a', 'https://h/b', 'data:,x', 'data:;base64,eA==', '');
    const files = fc.uniqueArray(
      fc.record({ path: fc.constantFrom('/1', '/2', '/3'), contents: fc.record({ source }) }),
      {
        selector: (each) => each.path,
      },
    );
    await fc.assert(
      fc.asyncProperty(files, fc.boolean(), async (list, authority) => {
        const security = authority ? { tls: { certificateAuthorities: [{ source: 'https://h/c' }] } } : {};
        const once = await run(world, { ignition: { version: '3.5.0', security }, storage: { files: list } });
        expect(once.report).toEqual([]);
        if (once.config === null) throw new Error('no config without a report');
        expect(JSON.stringify(once.config)).not.toContain('https:');
        const nothing = new World({});
        const twice = await resolve(once.config, { name: NAME, fetch: nothing.fetch });
        expect(twice).toEqual(once);
        expect(nothing.urls).toEqual([]);
      }),
      { numRuns: 50 },
    );
  });
});

describe('configs that reference configs', () => {
  it('are merged in order, each with its references, the later over the earlier', async () => {
    const world = new World({
      'https://h/1': { ...withFiles(file('/f', { source: 'data:,one' }), file('/1', { source: 'https://h/x' })) },
      'https://h/2': { ...naming('https://h/3'), storage: { files: [file('/f', { source: 'data:,two' })] } },
      'https://h/3': withFiles(file('/f', { source: 'data:,three' })),
      'https://h/x': 'X',
    });
    const { config, report } = await run(world, {
      ignition: { version: '3.4.0', config: { merge: [{ source: 'https://h/1' }, { source: 'https://h/2' }] } },
      storage: { files: [file('/base', { source: 'data:,base' }), file('/f', { source: 'https://h/overridden' })] },
    });
    expect(report).toEqual([]);
    expect(config?.ignition).toEqual({ version: '3.4.0' });
    expect(config?.storage?.files?.map((each) => each.path)).toEqual(['/base', '/f', '/1']);
    expect(await readFileContents(config, '/f')).toBe('three');
    expect(world.urls).toEqual(['https://h/1', 'https://h/2', 'https://h/3', 'https://h/x']);
  });

  it('are replaced completely by a replacement', async () => {
    const world = new World({ 'https://h/new': withFiles(file('/new', { source: 'data:,new' })) });
    const { config } = await run(world, {
      ignition: {
        version: '3.4.0',
        config: { replace: { source: 'https://h/new' }, merge: [{ source: 'https://h/no' }] },
      },
      storage: { files: [file('/old', { source: 'https://h/old' })] },
    });
    expect(config).toEqual(withFiles(file('/new', { source: 'data:,new' })));
    expect(world.urls).toEqual(['https://h/new']);
  });

  it('may be data URLs and gzipped', async () => {
    const packed = await gzip(bytes(JSON.stringify(withFiles(file('/in', { source: 'data:,in' })))));
    const { config } = await run(new World({}), {
      ignition: { version: '3.4.0', config: { merge: [{ source: encodeDataUrl(packed), compression: 'gzip' }] } },
    });
    expect(await readFileContents(config, '/in')).toBe('in');
  });

  it('are fetched with the authorities, proxy and timeouts of the configs around them', async () => {
    const inner = '-----BEGIN CERTIFICATE-----\nMAMwAQA=\n-----END CERTIFICATE-----\n';
    const world = new World({
      'https://h/ca': PEM,
      'https://h/1': {
        ignition: {
          version: '3.4.0',
          config: { merge: [{ source: 'https://h/2' }] },
          timeouts: { httpTotal: 7 },
          security: { tls: { certificateAuthorities: [{ source: encodeDataUrl(bytes(inner)) }] } },
        },
      },
      'https://h/2': withFiles(file('/2', { source: 'https://h/x' })),
      'https://h/x': 'X',
    });
    const { report } = await run(world, {
      ignition: {
        version: '3.4.0',
        config: { merge: [{ source: 'https://h/1' }] },
        proxy: { httpsProxy: 'https://proxy', noProxy: ['a'] },
        timeouts: { httpResponseHeaders: 3 },
        security: { tls: { certificateAuthorities: [{ source: 'https://h/ca' }] } },
      },
    });
    expect(report).toEqual([]);
    const proxy = { httpsProxy: 'https://proxy', noProxy: ['a'] };
    const outer = { proxy, certificateAuthorities: [PEM], timeouts: { responseHeadersMs: 3000, totalMs: 300_000 } };
    const both = { proxy, certificateAuthorities: [PEM, inner], timeouts: { responseHeadersMs: 3000, totalMs: 7000 } };
    expect(world.asked).toMatchObject([
      { url: 'https://h/ca', ...outer, certificateAuthorities: [] },
      { url: 'https://h/1', ...outer },
      { url: 'https://h/2', ...both },
      { url: 'https://h/x', ...both },
    ]);
  });

  it('of a newer spec raise the result to theirs', async () => {
    const newer = new World({
      'https://h/1': { ignition: { version: '3.5.0' }, storage: { files: [file('/1', { source: 'data:,1' })] } },
    });
    const { config, report } = await run(newer, naming('https://h/1', '3.2.0'));
    expect(report).toEqual([]);
    expect(config?.ignition.version).toBe('3.5.0');
  });

  it('of spec 2 are appended after translation', async () => {
    const old = (path: string) => ({
      ignition: { version: '2.2.0' },
      storage: { files: [{ filesystem: 'root', ...file(path, { source: 'https://h/x' }) }] },
    });
    const world = new World({ 'https://h/1': old('/1'), 'https://h/2': old('/2'), 'https://h/x': 'X' });
    const { config, report } = await run(world, {
      ...old('/0'),
      ignition: { version: '2.2.0', config: { append: [{ source: 'https://h/1' }, { source: 'https://h/2' }] } },
    });
    expect(report).toEqual([]);
    expect(config?.ignition.version).toBe('3.1.0');
    expect(config?.storage?.files?.map((each) => each.path)).toEqual(['/0', '/1', '/2']);
  });

  it('of spec 2 without references stay in spec 2', async () => {
    const input = {
      ignition: { version: '2.3.0' },
      storage: { files: [{ filesystem: 'root', ...file('/f', { source: 'https://h/x' }) }] },
    };
    const { config } = await run(new World({ 'https://h/x': 'X' }), input);
    expect(config?.ignition.version).toBe('2.3.0');
    expect(await readFileContents(config, '/f')).toBe('X');
  });

  it('that merge to something invalid are refused', async () => {
    const owned = (user: object) => ({ ...file('/f', { source: 'data:,x' }), user });
    const world = new World({ 'https://h/1': withFiles(owned({ id: 5 })) });
    const { config, report } = await run(world, {
      ...naming('https://h/1'),
      storage: { files: [owned({ name: 'core' })] },
    });
    expect(config).toBeNull();
    expect(report).toMatchObject([{ code: 'SLW_RESOLVE_RESULT', path: expect.stringContaining('storage.files[0]') }]);
  });
});

describe('a failure', () => {
  it('names the config, the fields along the path, and the URL without credentials and query', async () => {
    const world = new World({
      'https://h/1': withFiles(file('/a', { source: 'data:,a' }), file('/b', { source: 'https://user:pw@h/b?sig=s' })),
    });
    const { config, report } = await run(world, naming('https://h/1'));
    expect(config).toBeNull();
    expect(report).toEqual([
      {
        kind: 'error',
        code: 'SLW_RESOLVE_FETCH',
        input: NAME,
        path: 'ignition.config.merge[0]',
        url: 'https://…@h/b?…',
        message:
          'MachineConfig 99-worker, ignition.config.merge[0] → https://h/1, storage.files[1].contents.source (https://…@h/b?…): cannot be fetched: the server answers 404',
      },
    ]);
  });

  it.each([
    ['https://user:pw@h/b?sig=s#f', 'https://…@h/b?…'],
    ['https:user:pw@h/b', 'https://…@h/b'],
    ['HTTPS:\\\\user:pw@h\\b', 'https://…@h/b'],
    ['s3://key:secret@bucket/x?versionId=1', 's3://…@bucket/x?…'],
    ['data:text/plain,secret', 'data:text/plain,…'],
    [`https://h/${'x'.repeat(500)}`, `https://h/${'x'.repeat(199)}…`],
  ])('shows %s as %s', (source, shown) => {
    expect(maskUrl(source)).toBe(shown);
  });

  it('does not hide the others', async () => {
    const world = new World({ 'https://h/ok': 'ok' });
    const { report } = await run(
      world,
      withFiles(...['gone', 'ok', 'lost'].map((name) => file(`/${name}`, { source: `https://h/${name}` }))),
    );
    expect(report.map((entry) => entry.path)).toEqual([
      'storage.files[0].contents.source',
      'storage.files[2].contents.source',
    ]);
  });

  it.each([
    ['s3://bucket/key', /s3 is not supported, because it needs the cloud credentials/],
    ['arn:aws:s3:::bucket/key', /arn is not supported, because it names an S3 object/],
    ['gs://bucket/key', /gs is not supported, because it needs the cloud credentials/],
    ['tftp://10.0.0.1/x', /tftp is not supported, because TFTP has no authentication/],
    ['ftp://h/x', /ftp is not supported, because only http, https and data/],
    ['/etc/passwd', /a URL without a scheme is not supported/],
  ])('of %s explains why it is not supported', async (source, message) => {
    const { report } = await run(new World({}), withFiles(file('/f', { source })));
    expect(report).toMatchObject([{ code: 'SLW_RESOLVE_SCHEME', message: expect.stringMatching(message) }]);
  });

  it.each([
    ['http://169.254.169.254/latest/meta-data', {}],
    ['http://2852039166/', {}],
    ['http://[::1]/', {}],
    ['https://other.example.com/', { allowHosts: ['files.example.com'] }],
  ])('of %s comes before anything is fetched', async (source, hosts) => {
    const world = new World({});
    const { report } = await run(world, withFiles(file('/f', { source })), { hosts });
    expect(report).toMatchObject([{ code: 'SLW_RESOLVE_HOST' }]);
    expect(world.urls).toEqual([]);
  });

  const wrong = `sha256-${'0'.repeat(64)}`;
  it.each([
    ['a wrong hash', { source: 'https://h/a', verification: { hash: wrong } }, 'SLW_RESOLVE_HASH'],
    ['a wrong hash of a data URL', { source: 'data:,a', verification: { hash: wrong } }, 'SLW_RESOLVE_HASH'],
    ['gzip that is none', { source: 'https://h/a', compression: 'gzip' }, 'SLW_RESOLVE_GZIP'],
    ['gzip that is none in a data URL', { source: 'data:,a', compression: 'gzip' }, 'SLW_RESOLVE_GZIP'],
    ['a header without value', { source: 'https://h/a', httpHeaders: [{ name: 'X' }] }, 'SLW_RESOLVE_HEADER'],
    ['a broken URL', { source: 'https://' }, 'SLW_RESOLVE_URL'],
    ['a URL without a host', { source: 'https:user:pw@h/x' }, 'SLW_RESOLVE_URL'],
    ['a broken data URL', { source: 'data:x' }, 'SLW_RESOLVE_DATA_URL'],
  ])('is found: %s', async (_, contents, code) => {
    const { config, report } = await run(new World({ 'https://h/a': 'A' }), withFiles(file('/f', contents)));
    expect(config).toBeNull();
    expect(report).toMatchObject([{ code }]);
  });

  it.each([
    ['is not JSON', 'no json', /not a valid config/],
    ['has no version', {}, /ignition\.version/],
    ['has a wrong type', { ignition: { version: '3.4.0' }, storage: 5 }, /storage/],
  ])('is a config that %s', async (_, page, message) => {
    const { report } = await run(new World({ 'https://h/1': page }), naming('https://h/1'));
    expect(report).toMatchObject([{ code: 'SLW_RESOLVE_CONFIG', message: expect.stringMatching(message) }]);
  });

  it('is an authority without a certificate', async () => {
    const security = { tls: { certificateAuthorities: [{ source: 'data:,nothing' }] } };
    const { report } = await run(new World({}), { ignition: { version: '3.4.0', security } });
    expect(report).toMatchObject([{ code: 'SLW_RESOLVE_CA' }]);
  });
});

describe('a config of ten thousand files', () => {
  it('is resolved in time that grows with its size', async () => {
    const list = Array.from({ length: 10_000 }, (_, index) => file(`/${index}`, { source: 'data:,x' }));
    const began = process.threadCpuUsage();
    const { report } = await run(new World({}), withFiles(...list));
    expect(report).toEqual([]);
    const { user, system } = process.threadCpuUsage(began);
    expect((user + system) / 1000).toBeLessThan(5000);
  });
});

describe('a limit', () => {
  it('applies to loops', async () => {
    const world = new World({ 'https://h/1': naming('https://h/2'), 'https://h/2': naming('https://h/1#again') });
    const { report } = await run(world, naming('https://h/1'));
    expect(report).toMatchObject([{ code: 'SLW_RESOLVE_LOOP', path: 'ignition.config.merge[0]' }]);
    expect(world.urls).toEqual(['https://h/1', 'https://h/2']);
  });

  it('applies to depth, also of data URLs', async () => {
    let nested: object = withFiles(file('/f', { source: 'data:,x' }));
    for (let depth = 0; depth < 4; depth++) nested = naming(encodeDataUrl(bytes(JSON.stringify(nested))));
    expect(await run(new World({}), nested, { limits: { depth: 4 } })).toMatchObject({ report: [] });
    const { report } = await run(new World({}), nested, { limits: { depth: 3 } });
    expect(report).toMatchObject([{ code: 'SLW_RESOLVE_LIMIT', message: expect.stringContaining('limit of 3') }]);
  });

  it('applies to the number of configs, even without fetches', async () => {
    const source = encodeDataUrl(bytes(JSON.stringify(withFiles())));
    const merge = Array.from({ length: 11 }, () => ({ source }));
    const { report } = await resolve(
      { ignition: { version: '3.4.0', config: { merge } } },
      { name: NAME, fetch: new World({}).fetch, limits: { configs: 10 } },
    );
    expect(report).toMatchObject([{ code: 'SLW_RESOLVE_LIMIT', path: 'ignition.config.merge[10]' }]);
  });

  const three = withFiles(...['a', 'b', 'c'].map((name) => file(`/${name}`, { source: `https://h/${name}` })));
  const pages = { 'https://h/a': 'x'.repeat(100), 'https://h/b': 'y'.repeat(100), 'https://h/c': 'z'.repeat(100) };

  it.each([
    ['how many are fetched', { count: 2, parallel: 1 }, 1],
    ['the size of one', { singleBytes: 99 }, 3],
    ['the size of all', { totalBytes: 250, parallel: 1 }, 1],
  ])('holds for %s', async (_, limits, failures) => {
    const { config, report } = await run(new World(pages), three, { limits });
    expect(config).toBeNull();
    expect(report.map((entry) => entry.code)).toEqual(Array.from({ length: failures }, () => 'SLW_RESOLVE_LIMIT'));
  });

  it('is passed to the fetcher, so that it can stop early', async () => {
    const world = new World(pages);
    await run(world, three, { limits: { singleBytes: 1000, totalBytes: 1050, parallel: 1, redirects: 2 } });
    expect(world.asked.map(({ maxBytes }) => maxBytes)).toEqual([1000, 950, 850]);
    expect(world.asked[0]?.maxRedirects).toBe(2);
  });

  it('applies to unpacked sizes', async () => {
    const packed = await gzip(new Uint8Array(10_000));
    const input = withFiles(file('/f', { source: 'https://h/gz', compression: 'gzip' }));
    const { report } = await run(new World({ 'https://h/gz': packed }), input, { limits: { singleBytes: 9999 } });
    expect(report).toMatchObject([{ code: 'SLW_RESOLVE_LIMIT' }]);
  });

  it('applies to time, even if the fetcher never responds', async () => {
    const fetch: Fetcher = () => new Promise(() => {});
    const { report } = await resolve(read(three), { name: NAME, fetch, limits: { timeMs: 20 } });
    expect(report.map((entry) => entry.code)).toEqual(Array.from({ length: 3 }, () => 'SLW_RESOLVE_TIME'));
  });

  it('includes the caller’s signal', async () => {
    const { report } = await run(new World(pages), three, { signal: AbortSignal.abort() });
    expect(report).toMatchObject([{ code: 'SLW_RESOLVE_TIME' }, {}, {}]);
  });
});
