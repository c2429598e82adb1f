// All of it: every disturbance at every call of every update, those with a reboot too, and daemons that are stopped again
// while they recover. Every machine that ends old is updated again.
import { describe, it } from 'vitest';
import { disturbances, stopAndStopAgain } from './testing/crash.ts';
import { expectExact } from './testing/expect-exact.ts';
import { makeSample } from './testing/sample.ts';
import { sampleNames } from './testing/sample-update.ts';

for (const name of sampleNames)
  describe(`an ${name}, disturbed at any call, leaves the machine exactly old or exactly new`, () => {
    for (const disturbance of [...disturbances, ...stopAndStopAgain])
      it(`by ${disturbance.name}`, async () => {
        await expectExact(await makeSample(name), disturbance, { tryAgainAfterOneOf: 1 });
      });
  });
