import { expect, it } from 'vitest';
import { createKeyedQueue } from './controller.ts';

it('work on one key runs in order, on other keys concurrently, and a failure blocks nothing', async () => {
  const inTurn = createKeyedQueue();
  const order: string[] = [];
  const first = Promise.withResolvers<void>();
  const failing = inTurn('a', async () => {
    order.push('first starts');
    await first.promise;
    order.push('first fails');
    throw new Error('first');
  });
  const second = inTurn('a', () => Promise.resolve(order.push('second')));
  await inTurn('b', () => Promise.resolve(order.push('other')));
  first.resolve();
  await expect(failing).rejects.toThrow('first');
  await second;
  expect(order).toEqual(['first starts', 'other', 'first fails', 'second']);
});
