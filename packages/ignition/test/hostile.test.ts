// A hundred thousand are in hostile.slow.test.ts.
import { sampleSeed } from '@slipway/testing/sample';
import { it } from 'vitest';
import { expectHarmless } from './hostile.ts';

it(
  '20,000 hostile byte strings neither crash nor hang nor fill the memory of parse and validate',
  () => expectHarmless(20_000, Number(process.env['SLIPWAY_SEED'] ?? sampleSeed())),
  180_000,
);
