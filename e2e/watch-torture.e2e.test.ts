// Ten thousand changes are in watch-torture.slow.test.ts.
import { it } from 'vitest';
import { expectCachesToSurvive, useTorturedControlPlane } from './watch-torture/torture.ts';

useTorturedControlPlane();

it(
  'a cache ends equal to a fresh list, whatever happens to its watch in 500 changes; nothing is missed, nothing is new twice',
  () => expectCachesToSurvive(500),
  600_000,
);
