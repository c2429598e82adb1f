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
  ])('%s is parsed like Kubernetes does', (text, value) => {
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

  it('quotes strings that other YAML parsers may read as numbers or times', () => {
    expect(toYaml(['22:30', '2026-01-02', '0o644', '0644'])).toBe('- "22:30"\n- "2026-01-02"\n- "0o644"\n- "0644"\n');
  });

  it('survives a round trip', () => {
    fc.assert(
      // JSON has no negative zero, and neither does anything that an API server stores.
      fc.property(
        fc.jsonValue({ maxDepth: 4 }).map((value) => JSON.parse(JSON.stringify(value)) as unknown),
        (value) => {
          expect(readYaml('x', toYaml({ value }))).toEqual({ value });
        },
      ),
    );
  });
});
