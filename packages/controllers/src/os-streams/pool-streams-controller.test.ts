import { expect, it } from 'vitest';
import { createRetryBackoff } from './options.ts';

it('a failure is retried with a delay that doubles up to a limit', () => {
  const pace = createRetryBackoff({ firstMs: 5, mostMs: 30 });
  expect(pace.waitFor('a', 0)).toBe(0);
  expect([0, 5, 15, 35, 65].map((at) => pace.failed('a', at))).toEqual([5, 10, 20, 30, 30]);
  expect(pace.failures('a')).toBe(5);
  expect([65, 80, 95, 100].map((at) => pace.waitFor('a', at))).toEqual([30, 15, 0, 0]);
});

it('a changed input is tried immediately', () => {
  const pace = createRetryBackoff({ firstMs: 5, mostMs: 30 });
  pace.failed('a', 0);
  expect(pace.waitFor('b', 0)).toBe(0);
  expect(pace.failed('b', 0)).toBe(5);
  pace.succeeded();
  expect(pace.waitFor('b', 0)).toBe(0);
});
