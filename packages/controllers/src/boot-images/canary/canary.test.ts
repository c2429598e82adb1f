import { expect, it } from 'vitest';
import { canaryName } from './canary.ts';

it('the name of a canary fits into a label, and is another for another set', () => {
  expect(canaryName('worker-a')).toBe('worker-a-canary');
  const long = 'w'.repeat(80);
  expect(canaryName(`${long}-a`)).toHaveLength(63);
  expect(canaryName(`${long}-a`)).not.toBe(canaryName(`${long}-b`));
});
