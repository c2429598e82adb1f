import { describe, expect, it } from 'vitest';
import { Findings, formatPath, hasErrors, MAX_ENTRIES_PER_KIND, show, showSource } from './report.ts';

describe('findings', () => {
  it('keep the order in which they were found', () => {
    const findings = new Findings();
    findings.warn('b', 'first');
    findings.error('a', 'second');
    findings.info('', 'third');
    expect(findings.report()).toEqual([
      { kind: 'warning', path: 'b', message: 'first' },
      { kind: 'error', path: 'a', message: 'second' },
      { kind: 'info', path: '', message: 'third' },
    ]);
  });

  it('never lose the verdict, however many warnings came before', () => {
    const findings = new Findings();
    for (let index = 0; index < MAX_ENTRIES_PER_KIND + 7; index += 1) findings.warn('', 'again');
    expect(findings.failed).toBe(false);
    findings.error('a', 'wrong');
    const report = findings.report();
    expect(findings.failed).toBe(true);
    expect(hasErrors(report)).toBe(true);
    expect(report).toHaveLength(MAX_ENTRIES_PER_KIND + 2);
    expect(report.at(-1)?.message).toBe('at least 7 more entries of kind warning are not listed');
  });

  it('do not build a message that is never shown', () => {
    const findings = new Findings();
    let made = 0;
    for (let index = 0; index < MAX_ENTRIES_PER_KIND * 2; index += 1) {
      findings.addIfRoom('warning', () => {
        made += 1;
        return { path: '', message: 'again' };
      });
    }
    expect(made).toBe(MAX_ENTRIES_PER_KIND);
    expect(findings.report().at(-1)?.message).toContain(`${MAX_ENTRIES_PER_KIND} more`);
  });
});

describe('a value in a message', () => {
  it.each([
    ['plain', '"plain"'],
    ['two\nlines', '"two\\nlines"'],
    ['x'.repeat(200), `"${'x'.repeat(80)}…"`],
    [420, '420'],
    [null, 'null'],
    [[1], 'a list'],
    [{}, 'an object'],
  ])('%j is shown as %s', (value, shown) => {
    expect(show(value)).toBe(shown);
  });

  it.each([
    ['data:text/plain;base64,c2VjcmV0', '"data:text/plain;base64,…"'],
    ['data:,secret', '"data:,…"'],
    ['https://user:secret@host/path', '"https://…@host/path"'],
    ['https://host/path?token=secret', '"https://host/path?…"'],
    ['//user:p@ss@host', '"//…@host"'],
  ])('the source %s never shows potential secrets', (source, shown) => {
    expect(showSource(source)).toBe(shown);
  });
});

it.each([
  [[], ''],
  [['storage', 'files', 3, 'contents', 'source'], 'storage.files[3].contents.source'],
  [['storage', 'a.b'], 'storage["a.b"]'],
  [['storage', 'files[0]'], 'storage["files[0]"]'],
  [['', 'x'], '[""].x'],
  [['k'.repeat(300)], `["${'k'.repeat(80)}…"]`],
])('%j is written %s', (segments, text) => {
  expect(formatPath(segments)).toBe(text);
});
