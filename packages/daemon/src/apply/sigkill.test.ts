// Real processes, real signals, a real disk: 50 daemons are killed at moments of their update that a seed decides.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type KilledMachine, makeKilledMachine } from './testing/killed.ts';

const KILLS = 50;
const SEED = 6;
const LONG = 180_000;

let machine: KilledMachine;
beforeAll(async () => {
  machine = await makeKilledMachine('update with reboot');
}, LONG);
afterAll(() => machine.remove());

it(
  `after ${KILLS} daemons were killed in their update, every machine is exactly old or exactly new`,
  { timeout: LONG },
  async () => {
    const ends = { old: 0, new: 0, 'a mix': 0 };
    const problems: string[] = [];
    const delays: number[] = [];
    let killed = 0;
    for (const fraction of randomFractions(SEED)) {
      const afterMs = Math.round(fraction * machine.milliseconds);
      const verdict = await machine.kill({ afterMs });
      delays.push(afterMs);
      ends[verdict.at] += 1;
      problems.push(...verdict.problems.map((problem) => `killed after ${afterMs} ms: ${problem}`));
      if (verdict.wasKilled && ++killed === KILLS) break;
    }
    console.log(
      `${killed} daemons killed in an update of ${machine.milliseconds.toFixed(0)} ms, seed ${SEED}, after ${delays.join(', ')} ms: ` +
        `${ends.old} exactly old, ${ends.new} exactly new, ${ends['a mix']} a mix`,
    );
    expect(problems).toEqual([]);
    expect(killed).toBe(KILLS);
    expect(Math.min(ends.old, ends.new)).toBeGreaterThan(0);
  },
);

/** The same on every machine (a linear congruence: there is nothing to guess here). Some come when the update is over. */
function* randomFractions(seed: number): Generator<number> {
  let state = seed;
  for (let count = 0; count < 4 * KILLS; count += 1) {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    yield state / 2 ** 31;
  }
}
