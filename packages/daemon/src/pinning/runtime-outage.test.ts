import { describe, expect, it } from 'vitest';
import { addOutage, isLong, type Outage } from './runtime-outage.ts';

const problem = { code: 'SLW_PINNING_RUNTIME', message: 'nobody listens' };

describe('a container runtime that does not answer', () => {
  it('is asked again after half a second, and every ten seconds at the longest', () => {
    const waits: number[] = [];
    let [outage, now]: [Outage | null, number] = [null, 1000];
    for (let time = 0; time < 8; time += 1) {
      outage = addOutage(outage, problem, now, 0.5);
      waits.push((outage.notBefore - now) / 1000);
      now = outage.notBefore;
    }
    expect(waits).toEqual([0.5, 1, 2, 4, 8, 10, 10, 10]);
    expect(outage?.since).toBe(1000);
  });

  it('is one outage, however many pulls end in it', () => {
    const first = addOutage(null, problem, 1000, 0.5);
    expect(addOutage(first, problem, 1100, 0.5)).toEqual(first);
  });

  it('is something wrong after two minutes', () => {
    const outage = addOutage(null, problem, 1000, 0.5);
    expect([isLong(outage, 120_999), isLong(outage, 121_000)]).toEqual([false, true]);
  });
});
