// Every disturbance at every call of every update, including those with a reboot, and daemons that are stopped again
// during recovery. Every machine that ends at the old config is updated again.
import { describe, it } from 'vitest';
import { disturbances, stopAndStopAgain } from './testing/crash.ts';
import { expectExact } from './testing/expect-exact.ts';
import { makeSample } from './testing/sample.ts';
import { sampleNames } from './testing/sample-update.ts';

for (const name of sampleNames)
  describe(`an ${name}, disturbed at any call, leaves the machine exactly at the old or the new config`, () => {
    for (const disturbance of [...disturbances, ...stopAndStopAgain])
      it(`by ${disturbance.name}`, async () => {
        await expectExact(await makeSample(name), disturbance, { tryAgainAfterOneOf: 1 });
      });
  });
