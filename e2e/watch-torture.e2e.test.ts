// Ten thousand changes are in watch-torture.slow.test.ts.
import { it } from 'vitest';
import { expectCachesToSurvive, useTorturedControlPlane } from './watch-torture/torture.ts';

useTorturedControlPlane();

it(
  'a cache ends equal to a fresh list, whatever happens to its watch in a thousand changes; nothing is missed, nothing is new twice',
  () => expectCachesToSurvive(1000),
  600_000,
);
