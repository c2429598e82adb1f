import { describe, expect, it } from 'vitest';
import { byMachineName, machineName, nextMachineName, readMachineName } from './simulated-machine.ts';

describe('the name of a simulated machine', () => {
  it('contains its pool, even with dashes and digits', () => {
    for (const name of [machineName('worker', 0), machineName('gpu-2-large', 17)]) {
      expect(readMachineName(name.name)).toEqual(name);
    }
  });

  it.each(['', 'worker', '.worker-1.unborn', 'Worker-1', '-1', 'worker-'])('%j is not valid', (name) => {
    expect(readMachineName(name)).toBeUndefined();
  });

  it('is the first free one', () => {
    expect(nextMachineName('worker', new Set(['worker-0', 'worker-2', 'infra-1'])).name).toBe('worker-1');
  });

  it('is sorted by number', () => {
    const names = [machineName('worker', 10), machineName('infra', 3), machineName('worker', 9)];
    expect(names.toSorted(byMachineName).map(({ name }) => name)).toEqual(['infra-3', 'worker-9', 'worker-10']);
  });
});
