import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createAdmissionQueue, type AdmissionQueue, type Slot } from './admission-queue.ts';

const limits = { active: 2, turnMs: 2000, late: 2, waiting: 4, patienceMs: 8000 };

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Requests by number, the fate of each, and a function to finish each. */
function visit(gate: AdmissionQueue) {
  const begun: number[] = [];
  const gaveUp: number[] = [];
  const cutOff: number[] = [];
  const slots: (Slot | undefined)[] = [];
  return {
    begun,
    gaveUp,
    cutOff,
    enter: (number: number): boolean => {
      slots[number] = gate.enter({
        begin: () => begun.push(number),
        giveUp: () => gaveUp.push(number),
        cutOff: () => cutOff.push(number),
      });
      return slots[number] !== undefined;
    },
    leave: (number: number) => slots[number]?.leave(),
  };
}

describe('the gate', () => {
  it('starts a few immediately and the others in order of arrival', () => {
    const { begun, enter, leave } = visit(createAdmissionQueue(limits));
    for (const number of [0, 1, 2, 3, 4]) enter(number);
    expect(begun).toEqual([0, 1]);
    leave(1);
    expect(begun).toEqual([0, 1, 2]);
    leave(0);
    leave(2);
    expect(begun).toEqual([0, 1, 2, 3, 4]);
  });

  it('refuses a request if the queue is full', () => {
    const { enter, leave } = visit(createAdmissionQueue(limits));
    expect([0, 1, 2, 3, 4, 5, 6].map(enter)).toEqual([true, true, true, true, true, true, false]);
    leave(0);
    expect(enter(7)).toBe(true);
  });

  it('skips requests whose client is gone', () => {
    const { begun, enter, leave } = visit(createAdmissionQueue(limits));
    for (const number of [0, 1, 2, 3]) enter(number);
    leave(2);
    leave(0);
    expect(begun).toEqual([0, 1, 3]);
  });

  it('releases one slot per request, however often it finishes', () => {
    const gate = createAdmissionQueue(limits);
    const { begun, enter, leave } = visit(gate);
    for (const number of [0, 1, 2, 3]) enter(number);
    for (let times = 0; times < 3; times += 1) leave(0);
    expect(begun).toEqual([0, 1, 2]);
    expect(gate.active).toBe(2);
  });

  it('starts the next request when one takes too long', () => {
    const gate = createAdmissionQueue(limits);
    const { begun, enter, leave } = visit(gate);
    for (const number of [0, 1, 2]) enter(number);
    vi.advanceTimersByTime(2000);
    expect(begun).toEqual([0, 1, 2]);
    leave(0);
    expect(gate.active).toBe(1);
  });

  it('cuts off the oldest slow response if there are too many', () => {
    const { begun, cutOff, enter } = visit(createAdmissionQueue({ ...limits, active: 1 }));
    for (const number of [0, 1, 2, 3]) enter(number);
    vi.advanceTimersByTime(4000);
    expect({ begun, cutOff }).toEqual({ begun: [0, 1, 2], cutOff: [] });
    vi.advanceTimersByTime(2000);
    expect({ begun, cutOff }).toEqual({ begun: [0, 1, 2, 3], cutOff: [0] });
  });

  it('does not count slow responses that have finished', () => {
    const { cutOff, enter, leave } = visit(createAdmissionQueue({ ...limits, active: 1 }));
    for (const number of [0, 1, 2, 3]) {
      enter(number);
      vi.advanceTimersByTime(2000);
      leave(number);
    }
    expect(cutOff).toEqual([]);
  });

  it('refuses immediately if the wait would exceed the client’s timeout', () => {
    const { enter, leave } = visit(createAdmissionQueue({ ...limits, active: 1, waiting: 100, turnMs: 60_000 }));
    for (const number of [0, 1, 2, 3, 4, 5]) enter(number);
    leave(0);
    vi.advanceTimersByTime(3000);
    leave(1); // Three seconds a turn; three wait, and one more would wait nine seconds.
    expect(enter(6)).toBe(false);
  });

  it('does not mistake the first concurrent responses for slowness', () => {
    const gate = createAdmissionQueue({ ...limits, waiting: 1000 });
    const { enter, leave } = visit(gate);
    for (let number = 0; number < 500; number += 1) enter(number);
    vi.advanceTimersByTime(1000);
    leave(0);
    leave(1);
    expect(gate.expectedWaitMs()).toBe(0);
    vi.advanceTimersByTime(10);
    leave(2);
    expect(gate.expectedWaitMs()).toBeLessThan(8000);
  });

  it('forgets how slow it was once it is fast again', () => {
    const gate = createAdmissionQueue({ ...limits, active: 1, waiting: 1000, turnMs: 60_000 });
    const { enter, leave } = visit(gate);
    for (let number = 0; number < 200; number += 1) enter(number);
    leave(0);
    vi.advanceTimersByTime(2000);
    leave(1);
    expect(gate.expectedWaitMs()).toBeGreaterThan(100_000);
    for (let number = 2; number < 10; number += 1) {
      vi.advanceTimersByTime(1);
      leave(number);
    }
    expect(gate.expectedWaitMs()).toBeLessThan(1000);
  });

  it('does not mistake a quiet period for slowness', () => {
    const gate = createAdmissionQueue({ ...limits, active: 1 });
    const { enter, leave } = visit(gate);
    enter(0);
    enter(1);
    leave(0);
    leave(1);
    vi.advanceTimersByTime(3_600_000);
    for (const number of [2, 3, 4]) enter(number);
    leave(2);
    expect(gate.expectedWaitMs()).toBe(0);
  });

  it('refuses requests that have waited beyond their timeout, not those behind them', () => {
    const { begun, gaveUp, enter, leave } = visit(createAdmissionQueue({ ...limits, active: 1, turnMs: 60_000 }));
    enter(0);
    enter(1);
    vi.advanceTimersByTime(8001);
    enter(2);
    leave(0);
    expect({ begun, gaveUp }).toEqual({ begun: [0, 2], gaveUp: [1] });
  });

  it('never has more active requests than slots, nor a request waiting while a slot is free', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.boolean(), fc.nat(30))), (steps) => {
        const gate = createAdmissionQueue(limits);
        const { begun, enter, leave } = visit(gate);
        for (const [comes, number] of steps) {
          if (comes) enter(number);
          else leave(number);
          expect(gate.active).toBeLessThanOrEqual(2);
          expect(gate.waiting).toBeLessThanOrEqual(4);
          expect(gate.waiting === 0 || gate.active === 2).toBe(true);
        }
        expect(begun.length).toBeLessThanOrEqual(steps.length);
        vi.clearAllTimers();
      }),
    );
  });
});
