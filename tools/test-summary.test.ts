import { describe, expect, it } from 'vitest';
import { summaryLine } from './test-summary.ts';

describe('the last line of a test run', () => {
  it.each([
    [{ passed: 12, failed: 0, skipped: [] }, '12 passed, 0 failed'],
    [{ passed: 0, failed: 0, skipped: [] }, '0 passed, 0 failed'],
    [{ passed: 3, failed: 1, skipped: ['a', 'b'] }, '3 passed, 1 failed, 2 skipped'],
  ])('%j: %s', (tally, line) => {
    expect(summaryLine(tally)).toBe(line);
  });
});
