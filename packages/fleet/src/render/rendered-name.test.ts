import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson, isRenderedAs, renderedName } from './rendered-name.ts';

const spec = { kernelArguments: ['nosmt'], config: { ignition: { version: '3.5.0' } } };
const name = renderedName('worker', canonicalJson(spec));

describe('the name of a rendered config', () => {
  it('is that of its spec, whatever the order of the fields', async () => {
    const { config, kernelArguments } = spec;
    expect(isRenderedAs(name, 'worker', { config, kernelArguments })).toBe(true);
  });

  it.each([
    ['something of it is missing', 'worker', { config: spec.config }],
    ['all of it is missing', 'worker', undefined],
    ['it was rendered for another pool', 'infra', spec],
  ])('differs if %s', async (_, pool, other) => {
    expect(isRenderedAs(name, pool, other)).toBe(false);
  });

  it('is not checked for compressed contents', async () => {
    const contents = { source: 'data:;base64,H4sI', compression: 'gzip' };
    const packed = { config: { ...spec.config, storage: { files: [{ path: '/a', contents }] } } };
    expect(isRenderedAs(name, 'worker', packed)).toBe(true);
  });
});

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
