import { it } from 'vitest';
import { expectHarmless } from './hostile.ts';

it(
  'a hundred thousand hostile byte strings neither crash nor hang nor fill the memory of parse and validate',
  () => expectHarmless(100_000, Number(process.env['SLIPWAY_SEED'] ?? Math.floor(Math.random() * 2 ** 31))),
  180_000,
);
