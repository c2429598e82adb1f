import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readYaml, toYaml } from './yaml.ts';

describe('YAML of a manifest', () => {
  it.each([
    ['0644', 420],
    ['0o644', 420],
    ['420', 420],
    ['0x1a4', 420],
    ['"0644"', '0644'],
    ['yes', true],
    ['off', false],
    ['2026-01-02', '2026-01-02'],
    ['22:30', '22:30'],
    ['~', null],
    ['data:,a', 'data:,a'],
  ])('%s is read as Kubernetes reads it', (text, value) => {
    expect(readYaml('x', `field: ${text}\n`)).toEqual({ field: value });
  });

  it('of an empty file is nothing', () => {
    expect(readYaml('x', '# only a comment\n')).toBeUndefined();
  });
});

describe('a manifest as YAML', () => {
  it.each([
    '0644',
    '0o644',
    '22:30',
    '2026-01-02',
    'yes',
    'off',
    '~',
    '',
    '1e3',
    '0x1f',
    'a: b',
    '- x',
    '*a',
    'é\n\tz',
  ])('keeps the text %j text', (text) => {
    expect(readYaml('x', toYaml({ [text]: text }))).toEqual({ [text]: text });
  });

  it('quotes what other readers of YAML may take for a number or a time', () => {
    expect(toYaml(['22:30', '2026-01-02', '0o644', '0644'])).toBe('- "22:30"\n- "2026-01-02"\n- "0o644"\n- "0644"\n');
  });

  it('reads back as it was', () => {
    fc.assert(
      // JSON knows one zero: what an API server stores is never the negative one.
      fc.property(
        fc.jsonValue({ maxDepth: 4 }).map((value) => JSON.parse(JSON.stringify(value)) as unknown),
        (value) => {
          expect(readYaml('x', toYaml({ value }))).toEqual({ value });
        },
      ),
    );
  });
});
