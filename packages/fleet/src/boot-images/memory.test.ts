import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { type BootImageMemory, decodeMemory, encodeMemory } from './memory.ts';

const memory: BootImageMemory = {
  image: 'ami-1',
  stub: 'worker-user-data-managed',
  times: ['2026-03-01T12:00:00.000Z'],
  optIn: '1@u-1',
};

it('what is remembered is read again', () => {
  expect(decodeMemory(encodeMemory(memory))).toEqual(memory);
});

it('what somebody added is not carried on', () => {
  expect(decodeMemory(JSON.stringify({ ...memory, more: 'x' }))).toEqual(memory);
});

it.each([
  undefined,
  '',
  'no JSON',
  'null',
  '[]',
  '{}',
  '"text"',
  JSON.stringify({ ...memory, times: 'x' }),
  JSON.stringify({ ...memory, times: ['yesterday'] }),
  JSON.stringify({ ...memory, image: 1 }),
  JSON.stringify({ ...memory, image: 'x'.repeat(5000) }),
])('damaged: %s', (text) => {
  expect(decodeMemory(text)).toBeNull();
});

it('law: it is bounded, and never fails on what anybody wrote', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
      const found = decodeMemory(text);
      expect(found === null || typeof found.image === 'string').toBe(true);
    }),
  );
  const times = Array.from({ length: 1000 }, () => '2026-03-01T12:00:00.000Z');
  expect(encodeMemory({ ...memory, image: 'x'.repeat(10_000), times }).length).toBeLessThan(2000);
});
