import { expect, it } from 'vitest';
import { formatBroken, formatTable, judge, type Limit } from './limits.ts';

it.each<[number, Omit<Limit, 'before'>, string]>([
  [20, { most: 20, state: 'held' }, 'ok'],
  [21, { most: 20, state: 'held' }, 'BROKEN'],
  [21, { most: 20, state: 'not yet' }, 'not yet'],
  [21, { most: 20, state: 'once' }, 'not yet'],
  [85, { least: 85, state: 'held' }, 'ok'],
  [84, { least: 85, state: 'held' }, 'BROKEN'],
  [7, { state: 'held' }, ''],
])('%d within %j: %s', (value, limit, verdict) => {
  expect(judge(value, limit)).toBe(verdict);
});

it('the table shows before, now and target', () => {
  const [head, row] = formatTable([{ name: 'median lines', value: 60, places: [] }]).split('\n');
  expect(head).toMatch(/^measure +at 5f9ffb5 +now +target$/);
  expect(row).toMatch(/^median lines +57 +60 +≥ 85 +not yet$/);
});

it('an exceeded limit is reported with its places, a target that is not reached yet is not', () => {
  expect(
    formatBroken([
      { name: 'longest function', value: 81, places: ['a.ts:1: 81 lines'] },
      { name: 'product files', value: 9999, places: [] },
    ]),
  ).toEqual(['longest function: 81, and the limit is ≤ 80', '  a.ts:1: 81 lines']);
});
