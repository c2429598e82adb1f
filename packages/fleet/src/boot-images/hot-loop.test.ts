import { describe, expect, it } from 'vitest';
import type { OptIn } from './facts.ts';
import { hotLoopStep } from './hot-loop.ts';
import { type BootImageMemory, decodeMemory, encodeMemory } from './memory.ts';
import { everything, HOUR, MINUTE, NOW } from './testing/sample-facts.ts';

const optIn: OptIn = { uid: 'u-1', generation: 1, managers: everything };
const wanted = { image: 'ami-1', stub: 'managed' };

/** What is remembered after it was set at these times; null where one of them was refused. */
function setAt(times: readonly number[], value = wanted): BootImageMemory | null {
  let memory: BootImageMemory | null = null;
  for (const at of times) {
    const step = hotLoopStep(memory, value, { optIn, now: NOW + at });
    if (step.type === 'stop') return null;
    memory = decodeMemory(encodeMemory(step.memory));
  }
  return memory;
}

describe('what was set and changed back', () => {
  it.each<[string, readonly number[], number, 'go' | 'stop']>([
    ['is set the first time', [], 0, 'go'],
    ['is set again', [0], 1, 'go'],
    ['is set a third time', [0, 1], 2, 'go'],
    ['is not set a fourth time', [0, 1, 2], 3, 'stop'],
    ['is not set a fourth time, much later', [0, 1, 2], 9999 * HOUR, 'stop'],
    ['counts when the three were within one hour', [0, 30 * MINUTE, HOUR], 2 * HOUR, 'stop'],
    ['does not when they were not', [0, 30 * MINUTE, HOUR + 1], HOUR + 2, 'go'],
    ['counts by the last three', [0, HOUR, HOUR + 1, HOUR + 2], HOUR + 3, 'stop'],
    ['counts when the clock was set back', [0, -MINUTE, -2 * MINUTE], 0, 'stop'],
  ])('%s', (_, times, at, expected) => {
    const memory = setAt(times);
    expect(memory === null).toBe(times.length === 0);
    expect(hotLoopStep(memory, wanted, { optIn, now: NOW + at }).type).toBe(expected);
  });

  it('begins anew with another image, another stub, or another word of the opt-in', () => {
    const memory = setAt([0, 1, 2]);
    const at = { optIn, now: NOW + 3 };
    expect(hotLoopStep(memory, wanted, at).type).toBe('stop');
    expect(hotLoopStep(memory, { ...wanted, image: 'ami-2' }, at)).toMatchObject({
      memory: { times: [new Date(NOW + 3).toISOString()] },
    });
    expect(hotLoopStep(memory, { ...wanted, stub: 'other' }, at).type).toBe('go');
    expect(hotLoopStep(memory, wanted, { ...at, optIn: { ...optIn, generation: 2 } }).type).toBe('go');
    expect(hotLoopStep(memory, wanted, { ...at, optIn: { ...optIn, uid: 'u-2' } }).type).toBe('go');
    expect(hotLoopStep(null, wanted, at).type).toBe('go');
  });

  it('is known however long its name is', () => {
    const long = { image: 'x'.repeat(9000), stub: 'managed' };
    expect(hotLoopStep(setAt([0, 1, 2], long), long, { optIn, now: NOW + 3 }).type).toBe('stop');
  });
});
