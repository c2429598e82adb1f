import { expect, it } from 'vitest';
import { measureFunctions } from './functions.ts';

it('the length of a function excludes nested functions, which count separately', () => {
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
