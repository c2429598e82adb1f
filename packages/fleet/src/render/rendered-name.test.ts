import { encodeDataUrl, gzip } from '@slipway/ignition';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson, isRenderedAs, isRenderedFor, nameByDigests, renderedName } from './rendered-name.ts';

const spec = { kernelArguments: ['nosmt'], config: { ignition: { version: '3.5.0' } } };
const name = renderedName('worker', canonicalJson(spec));

describe('the name of a rendered config', () => {
  it('is that of its spec, whatever the order of the fields', async () => {
    const { config, kernelArguments } = spec;
    expect(await isRenderedAs(name, 'worker', { config, kernelArguments })).toBe(true);
  });

  it.each([
    ['something of it is missing', 'worker', { config: spec.config }],
    ['all of it is missing', 'worker', undefined],
    ['it was rendered for another pool', 'infra', spec],
  ])('differs if %s', async (_, pool, other) => {
    expect(await isRenderedAs(name, pool, other)).toBe(false);
  });

  it('is compared with contents that a user compressed', async () => {
    const packed = withFile('data:;base64,H4sI', 'gzip');
    const named = renderedName('worker', canonicalJson(packed));
    expect(await isRenderedAs(named, 'worker', packed)).toBe(true);
    expect(await isRenderedAs(named, 'worker', { ...packed, kernelArguments: ['mitigations=off'] })).toBe(false);
    expect(await isRenderedAs(name, 'worker', packed)).toBe(false);
  });

  describe('that is too large to be stored without compression', () => {
    const text = 'contents of a large file\n'.repeat(100);
    const plain = withFile(`data:,${encodeURIComponent(text)}`);
    const compressed = async (contents: string) =>
      withFile(encodeDataUrl(await gzip(new TextEncoder().encode(contents))), 'gzip');

    it('covers the contents, whatever form they are stored in', async () => {
      const named = await nameByDigests('worker', plain);
      expect(await nameByDigests('worker', await compressed(text))).toBe(named);
      expect(await isRenderedAs(named, 'worker', await compressed(text))).toBe(true);
    });

    it.each([
      ['the contents of the file', async () => compressed(`${text}x`)],
      ['another field', async () => ({ ...(await compressed(text)), kernelArguments: ['mitigations=off'] })],
      ['the rest, with contents that are not gzip', async () => withFile('data:;base64,AAAA', 'gzip')],
    ])('differs if a client changes %s', async (_, change) => {
      expect(await isRenderedAs(await nameByDigests('worker', plain), 'worker', await change())).toBe(false);
    });
  });
});

describe('a name', () => {
  it.each([
    ['worker', 'rendered-worker-a', true],
    ['worker-gpu', 'rendered-worker-gpu-a', true],
    ['worker', 'rendered-worker-gpu-a', false],
    ['worker', 'rendered-master-a', false],
    ['worker', '99-worker-ssh', false],
    ['worker', 'rendered-worker-', false],
    ['worker', 'rendered-worker', false],
    ['worker', 'x-rendered-worker-a', false],
    ['worker', 'rendered-worker-a/b', false],
    ['worker', '', false],
  ])('is one of pool %s or not: %s', (pool, config, expected) => {
    expect(isRenderedFor(pool, config)).toBe(expected);
  });
});

function withFile(source: string, compression?: string) {
  const contents = { source, ...(compression !== undefined && { compression }) };
  return { config: { ignition: { version: '3.5.0' }, storage: { files: [{ path: '/a', contents }] } } };
}

describe('canonical JSON', () => {
  // RFC 8785, section 3.2.2 and 3.2.4: numbers, escapes and literals.
  it('writes the RFC’s sample as the RFC does', () => {
    const sample = {
      numbers: JSON.parse('[333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001]'),
      string: '\u20ac$\u000F\u000aA\'\u0042\u0022\u005c\\"/',
      literals: [null, true, false],
    };
    expect(canonicalJson(sample)).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    );
  });

  // Section 3.2.3: by UTF-16 units, so a surrogate pair sorts before U+FB33.
  it('sorts keys by their UTF-16 units', () => {
    const sample = {
      '\u20ac': 'Euro Sign',
      '\r': 'Carriage Return',
      '\ufb33': 'Hebrew Letter Dalet With Dagesh',
      '1': 'One',
      '\ud83d\ude00': 'Emoji: Grinning Face',
      '\u0080': 'Control',
      '\u00f6': 'Latin Small Letter O With Diaeresis',
    };
    expect(Object.values(JSON.parse(canonicalJson(sample)))).toHaveLength(7);
    expect([...canonicalJson(sample).matchAll(/:"([^"]+)"/g)].map(([, name]) => name)).toEqual([
      'Carriage Return',
      'One',
      'Control',
      'Latin Small Letter O With Diaeresis',
      'Euro Sign',
      'Emoji: Grinning Face',
      'Hebrew Letter Dalet With Dagesh',
    ]);
  });

  it('sorts numeric keys as text', () => {
    expect(canonicalJson({ 9: 'b', 10: 'a' })).toBe('{"10":"a","9":"b"}');
  });

  it('refuses what JSON cannot represent', () => {
    expect(canonicalJson({ left: undefined, kept: 1 })).toBe('{"kept":1}');
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY, undefined, () => 1, [undefined]]) {
      expect(() => canonicalJson(value)).toThrow(TypeError);
    }
  });

  it('is the same data, and the same text for any order of keys', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 3 }), (value) => {
        const text = canonicalJson(value);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
        expect(canonicalJson(reversed(value))).toBe(text);
      }),
    );
  });
});

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, field]) => [key, reversed(field)]),
  );
}
