import { expect, it } from 'vitest';
import { formatPath } from './path.ts';

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
