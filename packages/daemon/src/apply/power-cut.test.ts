// kill -9 does not show what a power cut does: names and contents that were written, but not synced, may be lost, in any order.
// Here of all that was not synced everything or nothing is lost; single ones are in power-cut.slow.test.ts.
import { sampleSeed } from '@slipway/testing/sample';
import { describe, expect, it } from 'vitest';
import { cutEverywhere } from './testing/cut.ts';
import { makeSample } from './testing/sample.ts';

const LONG = 120_000;
/** Every fifth disk; at which one it begins follows from the commit. All of them are in power-cut.slow.test.ts. */
const STEP = 5;

describe('a power cut at any moment leaves the machine exactly old or exactly new', () => {
  for (const name of ['update', 'update that fails', 'update with reboot'] as const)
    it(`of an ${name}`, { timeout: LONG }, async () => {
      const sample = await makeSample(name);
      const {
        moments,
        disks,
        old,
        new: next,
        problems,
      } = await cutEverywhere(sample, {
        subsets: 'few',
        every: { first: sampleSeed() % STEP, step: STEP },
      });
      console.log(`${name}: ${moments} moments, ${disks} different disks: ${old} exactly old, ${next} exactly new`);
      expect(problems.slice(0, 10)).toEqual([]);
      expect(old + next).toBe(disks);
      expect(next > 0).toBe(sample.next !== null);
    });

  it('and without syncs it is found to leave a mix', { timeout: LONG }, async () => {
    const cut = { subsets: 'few', withoutSyncs: true, every: { first: 0, step: 20 } } as const;
    const { disks, old, new: next, problems } = await cutEverywhere(await makeSample('update'), cut);
    console.log(`update on a disk that ignores syncs: ${disks} different disks, ${disks - old - next} of them a mix`);
    expect(problems.length).toBeGreaterThan(0);
    expect(old + next).toBeLessThan(disks);
  });
});
