import { describe, expect, it } from 'vitest';
import { encodeContents, gzip } from '../compression.ts';
import { encodeDataUrl } from '../data-url.ts';
import { parse } from '../parse.ts';
import type { AnyConfig } from '../spec/index.ts';
import { diffConfigs, type DiffOptions, type ItemDiff } from './index.ts';
import { formatDiff } from './text.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

function read(input: object): AnyConfig {
  const { config, report } = parse({ ignition: { version: '3.5.0' }, ...input });
  if (config === null) throw new Error(`the test config does not parse: ${JSON.stringify(report)}`);
  return config;
}

async function diff(a: object, b: object, options: DiffOptions = {}): Promise<ItemDiff[]> {
  const { items, report } = await diffConfigs(read(a), read(b), options);
  if (items === null) throw new Error(JSON.stringify(report));
  return items;
}

const show = async (a: object, b: object, options: DiffOptions = {}) => formatDiff(await diff(a, b, options));
const files = (...list: object[]) => ({ storage: { files: list } });
const text = (path: string, contents: string, more: object = {}) => ({
  path,
  contents: { source: encodeDataUrl(bytes(contents)) },
  ...more,
});

describe('a diff of configs', () => {
  it('of equal configs is empty, however their contents are written', async () => {
    const long = 'the same line\n'.repeat(200);
    const packed = { path: '/f', contents: await encodeContents(bytes(long)) };
    const base64 = { path: '/f', contents: { source: `data:;base64,${bytes(long).toBase64()}` } };
    expect(packed.contents.compression).toBe('gzip');
    expect(await show(files(packed), files(base64))).toBe('no difference\n');
  });

  it('shows a file by line, with its mode and owner', async () => {
    const before = files(text('/etc/chrony.conf', 'pool a\nmakestep 1 3\n', { mode: 0o644 }));
    const after = files(text('/etc/chrony.conf', 'pool b\nmakestep 1 3\n', { mode: 0o640, user: { name: 'chrony' } }));
    expect(await show(before, after)).toBe(
      [
        '~ file /etc/chrony.conf',
        '    mode: 0644 → 0640',
        '    + user.name: chrony',
        '    @@ -1,2 +1,2 @@',
        '    -pool a',
        '    +pool b',
        '     makestep 1 3',
        '',
        '0 added, 0 removed, 1 changed',
        '',
      ].join('\n'),
    );
  });

  it('reports what was added and removed', async () => {
    const out = await show(files(text('/old', 'o\n')), files(text('/new', 'n\n')));
    expect(out).toContain('- file /old');
    expect(out).toContain('+ file /new\n    @@ -0,0 +1,1 @@\n    +n');
    expect(out).toContain('1 added, 1 removed, 0 changed');
  });

  it('shows units and drop-ins as text', async () => {
    const unit = (contents: string, dropin: string, enabled: boolean) => ({
      systemd: {
        units: [{ name: 'a.service', contents, enabled, dropins: [{ name: '10-x.conf', contents: dropin }] }],
      },
    });
    const items = await diff(
      unit('[Unit]\nA=1\n', '[Service]\n', true),
      unit('[Unit]\nA=2\n', '[Service]\nB=1\n', false),
    );
    expect(items).toMatchObject([
      {
        noun: 'unit',
        name: 'a.service',
        fields: [{ name: 'enabled', before: 'true', after: 'false' }],
        contents: [{ diff: { kind: 'text', hunks: [{ lines: [' [Unit]', '-A=1', '+A=2'] }] } }],
      },
      { noun: 'drop-in', name: 'a.service.d/10-x.conf', change: 'changed' },
    ]);
  });

  it('shows keys and kernel arguments one by one, and only a new order as a whole', async () => {
    const config = (keys: string[], shouldExist: string[]) => ({
      passwd: { users: [{ name: 'core', sshAuthorizedKeys: keys }] },
      kernelArguments: { shouldExist },
    });
    const items = await diff(config(['k1', 'k2'], ['a', 'b']), config(['k2', 'k3'], ['b', 'a']));
    expect(items.map((item) => [item.noun, item.fields])).toEqual([
      [
        'user',
        [
          { name: 'sshAuthorizedKeys', before: 'k1', after: null },
          { name: 'sshAuthorizedKeys', before: null, after: 'k3' },
        ],
      ],
      ['kernel arguments', [{ name: 'shouldExist', before: 'a b', after: 'b a' }]],
    ]);
  });

  it('compares binary contents by size and hash', async () => {
    const binary = (...data: number[]) =>
      files({ path: '/b', contents: { source: encodeDataUrl(Uint8Array.of(...data)) } });
    const out = await show(binary(0, 1, 2), binary(0, 1, 3));
    expect(out).toMatch(/contents \(binary\): 3 bytes, sha256-ae4b3280\w+ → 3 bytes, sha256-\w{64}\n/);
  });

  it('does not compare line by line if the texts are too different', async () => {
    const lines = (word: string) => Array.from({ length: 30_000 }, (_, index) => `${word} ${index}`).join('\n');
    const began = process.threadCpuUsage();
    const [item] = await diff(files(text('/l', lines('a'))), files(text('/l', lines('b'))));
    expect(item?.contents[0]?.diff).toMatchObject({ kind: 'bytes', reason: 'large' });
    const { user, system } = process.threadCpuUsage(began);
    expect((user + system) / 1000).toBeLessThan(5000);
  });

  it('shows a remote reference by its URL without credentials and query', async () => {
    const remote = (source: string) => files({ path: '/r', contents: { source } });
    const out = await show(remote('https://u:p@h/a?t=1'), remote('https://u:p@h/b?t=1'));
    expect(out).toContain('contents: fetched from https://…@h/a?… → fetched from https://…@h/b?…');
  });

  it('reports contents that cannot be unpacked', async () => {
    const broken = files({ path: '/r', contents: { source: 'data:,x', compression: 'gzip' } });
    expect(await show(files(text('/r', 'x')), broken)).toContain('1 bytes in the config → unreadable gzip contents');
  });

  it('translates configs of two specs to the newer one', async () => {
    const old = read({ ignition: { version: '3.0.0' }, ...files(text('/f', 'x')) });
    const { items } = await diffConfigs(old, read(files(text('/f', 'x'))));
    expect(items?.map((item) => item.noun)).toEqual(['spec version']);
  });
});

describe('a secret in a diff', () => {
  const config = (hash: string, contents: string) => ({
    passwd: { users: [{ name: 'core', passwordHash: hash }] },
    ...files(text('/etc/secret', contents, { mode: 0o600 })),
    storage: {
      files: [text('/etc/secret', contents, { mode: 0o600 })],
      luks: [{ name: 'd', device: '/dev/d', keyFile: { source: encodeDataUrl(bytes(contents)) } }],
    },
  });

  it('is hidden, but a change of it is shown', async () => {
    const out = await show(config('$6$old', 'alpha'), config('$6$new', 'beta!!'));
    expect(out).toContain('passwordHash: (hidden) → (hidden), changed');
    expect(out).toContain('contents (hidden): 5 bytes → 6 bytes');
    expect(out).toContain('keyFile (hidden): 5 bytes → 6 bytes');
    expect(out).not.toMatch(/\$6\$|alpha|beta/);
  });

  it('is shown on request', async () => {
    const out = await show(config('$6$old', 'alpha'), config('$6$new', 'beta'), { showSecrets: true });
    expect(out).toContain('passwordHash: $6$old → $6$new');
    expect(out).toContain('-alpha');
  });

  it('can also be defined by the caller', async () => {
    const options = { isSecretFile: (path: string) => path === '/etc/token' };
    const out = await show(files(text('/etc/token', 'aa')), files(text('/etc/token', 'bb')), options);
    expect(out).toContain('contents (hidden): 2 bytes → 2 bytes');
  });
});

describe('the text of a diff', () => {
  it('cannot move the cursor of a terminal', async () => {
    const items = await diff(files(text('/f', 'x\n')), files(text('/f', 'x\n\u202eevil\n')));
    expect(formatDiff(items)).toContain('+\\u{202e}evil');
    const named: ItemDiff = { noun: 'file', name: '/\u001b[2J', change: 'removed', fields: [], contents: [] };
    expect(formatDiff([named])).toContain('- file /\\u{1b}[2J');
  });

  it('cuts endless lines', async () => {
    const out = await show(files(text('/f', '')), files(text('/f', 'y'.repeat(100_000))));
    expect(out.length).toBeLessThan(1000);
    expect(out).toContain('(100001 characters)');
  });

  it('stays small for a bomb', async () => {
    const bomb = encodeDataUrl(await gzip(new Uint8Array(40_000_000)));
    const out = await show(
      files(text('/f', '')),
      files({ path: '/f', contents: { source: bomb, compression: 'gzip' } }),
    );
    expect(out).toContain('unreadable gzip contents');
  });
});
