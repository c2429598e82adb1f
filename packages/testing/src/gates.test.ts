import { expect, it } from 'vitest';
import { createFakeGates } from './gates.ts';

it('fake gates are set one by one or all together, and notify listeners', () => {
  const gates = createFakeGates({ OSStreams: true });
  let changes = 0;
  const stop = gates.onChange(() => (changes += 1));
  expect([gates.isOn('OSStreams'), gates.isOn('PinnedImages')]).toEqual([true, false]);
  gates.turn(true, 'PinnedImages');
  expect(gates.isOn('PinnedImages')).toBe(true);
  gates.turn(false);
  expect([gates.isOn('OSStreams'), gates.isOn('PinnedImages')]).toEqual([false, false]);
  stop();
  gates.turn(true);
  expect(gates.isOn('Anything')).toBe(true);
  expect(changes).toBe(2);
});
