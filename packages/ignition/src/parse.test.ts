import { describe, expect, it } from 'vitest';
import { parse } from './parse.ts';

const listErrorPaths = (input: string | object) =>
  parse(input)
    .report.filter(({ kind }) => kind === 'error')
    .map(({ path }) => path);

describe('a config is read', () => {
  it('from text, from bytes and from an object alike', () => {
    const value = { ignition: { version: '3.5.0' }, storage: { files: [{ path: '/a', mode: 420 }] } };
    const text = JSON.stringify(value);
    const expected = { config: value, version: '3.5.0', report: [] };
    expect(parse(text)).toEqual(expected);
    expect(parse(new TextEncoder().encode(text))).toEqual(expected);
    expect(parse(value)).toEqual(expected);
  });

  it('into its normal form: no nulls, no meaningless empty values, zero for required fields', () => {
    const { config } = parse({
      ignition: { version: '3.5.0', config: {}, timeouts: { httpTotal: null } },
      passwd: { users: [null] },
      storage: {
        files: [],
        filesystems: null,
        disks: [{ device: '/dev/sda', partitions: [{ number: 0, label: '' }] }],
      },
      systemd: { units: [{ name: 'a.service', contents: '', enabled: false }] },
    });
    expect(config).toEqual({
      ignition: { version: '3.5.0' },
      passwd: { users: [{ name: '' }] },
      storage: { disks: [{ device: '/dev/sda', partitions: [{ label: '' }] }] },
      systemd: { units: [{ name: 'a.service', contents: '', enabled: false }] },
    });
  });

  it('without changing the input object', () => {
    const value = { ignition: { version: '3.5.0' }, unknown: 1, storage: { files: [null] } };
    const before = JSON.stringify(value);
    parse(value);
    expect(JSON.stringify(value)).toBe(before);
  });

  it('with a warning for every key that the spec does not have, and without that key', () => {
    const { config, report } = parse(
      '{"ignition":{"version":"3.2.0"},"kernelArguments":{},"storage":{"a.b":1,"__proto__":2}}',
    );
    expect(config).toEqual({ ignition: { version: '3.2.0' } });
    expect(report.map(({ kind, path }) => `${kind} ${path}`)).toEqual([
      'warning storage["a.b"]',
      'warning storage.__proto__',
      'warning kernelArguments',
    ]);
  });
});

describe('a config is refused', () => {
  it.each([
    ['', ''],
    ['null', ''],
    ['[]', ''],
    ['"3.5.0"', ''],
    ['{', ''],
    ['\ufeff{"ignition":{"version":"3.5.0"}}', ''],
    ['{"ignition":{"version":"3.5.0"}} x', ''],
    ['{}', 'ignition.version'],
    ['{"ignition":null}', 'ignition.version'],
    ['{"ignition":{"version":3}}', 'ignition.version'],
    ['{"ignition":{"version":"2.1.0"}}', 'ignition.version'],
    ['{"ignition":{"version":"03.5.0"}}', 'ignition.version'],
    ['{"ignition":{"version":"3.5.0"},"storage":[]}', 'storage'],
    ['{"ignition":{"version":"3.5.0"},"storage":{"files":{}}}', 'storage.files'],
    ['{"ignition":{"version":"3.5.0"},"storage":{"files":["/a"]}}', 'storage.files[0]'],
    ['{"ignition":{"version":"3.5.0"},"storage":{"files":[{"path":7}]}}', 'storage.files[0].path'],
    ['{"ignition":{"version":"3.5.0"},"storage":{"files":[{"mode":"0644"}]}}', 'storage.files[0].mode'],
    ['{"ignition":{"version":"3.5.0"},"storage":{"files":[{"mode":420.5}]}}', 'storage.files[0].mode'],
    ['{"ignition":{"version":"3.5.0"},"storage":{"files":[{"mode":420.0}]}}', 'storage.files[0].mode'],
    ['{"ignition":{"version":"3.5.0"},"storage":{"files":[{"mode":9007199254740993}]}}', 'storage.files[0].mode'],
    ['{"ignition":{"version":"3.5.0"},"storage":{"files":[{"overwrite":1}]}}', 'storage.files[0].overwrite'],
    ['{"ignition":{"version":"3.5.0"},"Storage":{}}', 'Storage'],
    ['{"ignition":{"version":"3.5.0"},"storage":{"fileſ":[]}}', 'storage["fileſ"]'],
    ['{"ignition":{"version":"3.5.0"},"storage":{},"storage":{}}', 'storage'],
  ])('%s', (text, path) => {
    expect(parse(text).config).toBeNull();
    expect(listErrorPaths(text)).toEqual([path]);
  });

  it('beyond the limits of size, depth and number, which a caller may set', () => {
    const limits = { size: 200, depth: 4, values: 20 };
    expect(parse(JSON.stringify({ ignition: { version: '3.5.0' } }), limits).config).not.toBeNull();
    expect(parse(JSON.stringify({ ignition: { version: '3.5.0' }, x: [[[[]]]] }), limits).config).toBeNull();
    expect(parse(JSON.stringify({ ignition: { version: '3.5.0' }, x: 'x'.repeat(200) }), limits).config).toBeNull();
    expect(parse(JSON.stringify({ ignition: { version: '3.5.0' }, x: Array(30).fill(1) }), limits).config).toBeNull();
  });

  it('without quoting its text, which may be secret', () => {
    const [entry] = parse('{"passwordHash":"$6$secret", oops}').report;
    expect(entry?.message).toMatch(/^the config is not valid JSON/);
    expect(entry?.message).not.toContain('secret');
  });

  it('and its version is still reported', () => {
    expect(parse('{"ignition":{"version":"3.1.0"},"storage":7}').version).toBe('3.1.0');
  });
});

describe('nothing throws', () => {
  const cyclic: Record<string, unknown> = { ignition: { version: '3.5.0' } };
  cyclic['storage'] = cyclic;
  it.each<[string, object, boolean]>([
    ['a cycle', cyclic, true],
    ['a date for an object', { ignition: { version: '3.5.0' }, storage: new Date() }, false],
    ['a map for an object', { ignition: { version: '3.5.0' }, storage: new Map([['files', []]]) }, false],
    [
      'a bigint for a number',
      { ignition: { version: '3.5.0' }, storage: { files: [{ path: '/a', mode: 420n }] } },
      false,
    ],
    ['NaN', { ignition: { version: '3.5.0' }, storage: { files: [{ path: '/a', mode: Number.NaN }] } }, false],
    [
      'an object without a prototype',
      Object.assign(Object.create(null) as object, { ignition: { version: '3.5.0' } }),
      true,
    ],
    [
      'a getter that throws',
      Object.defineProperty({ ignition: { version: '3.5.0' } }, 'storage', {
        get: () => {
          throw new Error('no');
        },
      }),
      false,
    ],
  ])('on %s', (_, value, accepted) => {
    expect(parse(value).config !== null).toBe(accepted);
  });

  it('on nesting far beyond the size of a stack', () => {
    const deep = (levels: number) => `{"ignition":{"version":"3.5.0"},"x":${'['.repeat(levels)}${']'.repeat(levels)}}`;
    expect(parse(deep(9_999)).config).not.toBeNull();
    expect(parse(deep(10_000)).config).toBeNull();
    expect(parse(deep(1_000_000)).config).toBeNull();
  });
});
