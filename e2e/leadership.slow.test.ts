import { it } from 'vitest';
import { expectNoStaleWrites } from './leadership/freeze-leaders.ts';

it(
  'a leader frozen past its lease and woken writes nothing over what the new leader has changed, in 100 runs',
  () => expectNoStaleWrites(100),
  120_000,
);
