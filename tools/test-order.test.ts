import { describe, expect, it } from 'vitest';
import { mergeDurations } from './test-durations.ts';
import { sortByDuration } from './test-order.ts';

describe('test files', () => {
  it('start longest first, and those without a record in their original order', () => {
    const durations = { 'a.test.ts': 3, 'b.test.ts': 90 };
    expect(sortByDuration(['new', 'a.test.ts', 'newer', 'b.test.ts'], (path) => path, durations)).toEqual([
      'b.test.ts',
      'a.test.ts',
      'new',
      'newer',
    ]);
  });

  it('that ran get new times, in one project or two; others keep theirs, and deleted ones are dropped', () => {
    const before = { 'gone.test.ts': 5, 'kept.test.ts': 7, 'ran.test.ts': 9, 'quick.test.ts': 2 };
    const ran = [
      ['ran.test.ts', 3400],
      ['ran.test.ts', 2600],
      ['quick.test.ts', 400],
    ] as const;
    expect(mergeDurations(before, ran, (path) => path !== 'gone.test.ts')).toEqual({
      'kept.test.ts': 7,
      'ran.test.ts': 3,
    });
  });
});
