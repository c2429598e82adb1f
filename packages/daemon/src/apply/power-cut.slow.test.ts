// Of the names that were not synced: all, none, each one lost or kept, all but the first or last few.
import { expect, it } from 'vitest';
import { cutEverywhere } from './testing/cut.ts';
import { makeSample } from './testing/sample.ts';
import { sampleNames } from './testing/sample-update.ts';

for (const name of sampleNames)
  it(`a power cut at any moment of an ${name}, whatever it loses, leaves the machine exactly at the old or the new config`, async () => {
    const tally = await cutEverywhere(await makeSample(name), { subsets: 'many' });
    const { moments, disks, old, new: next, problems } = tally;
    console.log(`${name}: ${moments} moments, ${disks} different disks: ${old} exactly old, ${next} exactly new`);
    expect(problems.slice(0, 10)).toEqual([]);
    expect(old + next).toBe(disks);
  });
