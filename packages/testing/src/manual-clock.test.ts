import { expect, it } from 'vitest';
import { createManualClock } from './manual-clock.ts';

it('fires timers in order, including those set by others, and no cancelled ones', async () => {
  const clock = createManualClock();
  const fired: string[] = [];
  const note = (name: string) => () => void fired.push(`${name} at ${clock.now()}`);
  clock.setTimer(30, note('late'));
  clock.setTimer(10, () => {
    note('early')();
    void clock.sleep(5).then(note('slept'));
  });
  clock.setTimer(20, note('never'))();
  clock.setTimer(31, note('beyond'));
  expect(clock.waits()).toEqual([30, 10, 31]);
  await clock.advance(30);
  expect(fired).toEqual(['early at 10', 'slept at 15', 'late at 30']);
  expect(clock.waits()).toEqual([1]);
});

it('advances the wall clock too, and neither on its own', async () => {
  const clock = createManualClock();
  const wall = clock.wallNow();
  await clock.advance(1000);
  expect([clock.now(), clock.wallNow() - wall]).toEqual([1000, 1000]);
});
