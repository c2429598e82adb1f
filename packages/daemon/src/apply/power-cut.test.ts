// kill -9 does not show the effects of a power cut: names and contents that were not synced may be lost, in any order.
// Here all or none of them are lost. power-cut.slow.test.ts covers single ones.
import { sampleSeed } from '@slipway/testing/sample';
import { describe, expect, it } from 'vitest';
import { cutEverywhere } from './testing/cut.ts';
import { makeSample } from './testing/sample.ts';

const LONG = 120_000;
/** Every fifth disk. The commit determines the first one. power-cut.slow.test.ts covers all of them. */
const STEP = 5;

describe('a power cut at any moment leaves the machine exactly at the old or the new config', () => {
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

  it('and without syncs, the test detects a mix', { timeout: LONG }, async () => {
    const cut = { subsets: 'few', withoutSyncs: true, every: { first: 0, step: 20 } } as const;
    const { disks, old, new: next, problems } = await cutEverywhere(await makeSample('update'), cut);
    console.log(`update on a disk that ignores syncs: ${disks} different disks, ${disks - old - next} of them a mix`);
    expect(problems.length).toBeGreaterThan(0);
    expect(old + next).toBeLessThan(disks);
  });
});
