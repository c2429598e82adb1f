import { expect, it } from 'vitest';
import { measureFunctions } from './functions.ts';

it('a function is as long as its own lines: functions inside it count for themselves', () => {
  const text = `const before = 1;
export function createQueue() {
  const items = [];
  return {
    add(item) {
      items.push(item);
      items.sort();
    },
    size: () => items.length,
  };
}
`;
  expect(measureFunctions('queue.ts', text)).toEqual([
    { place: 'queue.ts:2', lines: 8 },
    { place: 'queue.ts:5', lines: 4 },
    { place: 'queue.ts:9', lines: 1 },
  ]);
});
