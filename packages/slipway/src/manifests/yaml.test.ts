import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatYamlProblem, readYaml, readYamlDocuments, REASONS, toYaml } from './yaml.ts';

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

describe('YAML that cannot be read', () => {
  const listProblems = (text: string) =>
    readYamlDocuments(text).flatMap((each) =>
      each.ok ? [] : each.problems.map((problem) => formatYamlProblem('x.yaml', problem)),
    );

  it.each([
    ['kind: A\nspec:\n\ta: 1\n', 'x.yaml, line 3: a tab is used for indentation; YAML needs spaces'],
    [
      'kind: A\nlabels:\n  role: a\n  b: 1\n  role: c\nkind: B\n',
      'x.yaml, line 5: the key "role" appears twice (lines 3 and 5): keep one',
      'x.yaml, line 6: the key "kind" appears twice (lines 1 and 6): keep one',
    ],
    ['{a: 1, a: 2}\n', 'x.yaml, line 1: the key "a" appears twice (both on line 1): keep one'],
    [
      'a: b: c\n',
      'x.yaml, line 1: a value contains a colon and a space (put it in quotes), or the line below has the wrong indentation',
    ],
    [
      'a:\n  b: 1\n c: 2\n',
      'x.yaml, line 3: the indentation does not match the lines above, or a bracket above is not closed',
    ],
    [
      'a: 1\nb\nc: 2\n',
      'x.yaml, line 2: a colon, a comma, a closing bracket or a closing quote is missing here or above',
    ],
    [
      'a: "open\nb: 1\n',
      'x.yaml, line 3: a colon, a comma, a closing bracket or a closing quote is missing here or above',
    ],
    [
      'a: *b\n',
      'x.yaml, line 1: an alias (*name) needs an anchor (&name) above it; put a text that starts with * in quotes',
    ],
    [
      'a: @b\n',
      'x.yaml, line 1: a text must not start with @, % or `, and | and > need a new line; put the text in quotes',
    ],
    [
      'a: "\\d"\n',
      'x.yaml, line 1: in double quotes, \\ starts an escape such as \\n; write \\\\ for a backslash, or use single quotes',
    ],
  ])('%j: the line, and what to do', (text, ...problems) => {
    expect(listProblems(text)).toEqual(problems);
  });

  it('is described in words for every code of the parser', async () => {
    const declared = await readFile(join(dirname(fileURLToPath(import.meta.resolve('yaml'))), 'errors.d.ts'), 'utf8');
    const union = /type ErrorCode =([^;]*);/.exec(declared)?.[1] ?? '';
    const codes = [...union.matchAll(/'([A-Z0-9_]+)'/g)].map(([, code = '']) => code);
    expect(codes).toContain('TAB_AS_INDENT');
    expect(Object.keys(REASONS).sort()).toEqual(codes.sort());
    expect(Object.values(REASONS).filter((text) => /[A-Z]{2,}_/.test(text))).toEqual([]);
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
