// A kill at every call that changes something, each in a separate process.
import { expect, it } from 'vitest';
import { expectExactAfterKills, makeKilledMachine } from './testing/killed.ts';
import { sampleNames } from './testing/sample-update.ts';

const VERY_LONG = 1_800_000;

for (const name of sampleNames)
  it(
    `a daemon that is killed at any call of an ${name} leaves the machine exactly at the old or the new config`,
    { timeout: VERY_LONG },
    async () => {
      const machine = await makeKilledMachine(name);
      try {
        const ends = { old: 0, new: 0, 'a mix': 0 };
        const problems: string[] = [];
        for (let atCall = 0; ; atCall += 1) {
          const verdict = await machine.kill({ atCall });
          if (!verdict.wasKilled) break;
          ends[verdict.at] += 1;
          problems.push(...verdict.problems.map((problem) => `killed at call ${atCall}: ${problem}`));
        }
        console.log(
          `${name}: ${ends.old + ends.new + ends['a mix']} kills: ${ends.old} exactly old, ${ends.new} exactly new`,
        );
        expect(problems.slice(0, 10)).toEqual([]);
      } finally {
        await machine.remove();
      }
    },
  );

it('after fifty daemons were killed during updates, every machine is exactly at the old or the new config', async () => {
  const machine = await makeKilledMachine('update with reboot');
  try {
    await expectExactAfterKills(machine, 50, 6);
  } finally {
    await machine.remove();
  }
});
