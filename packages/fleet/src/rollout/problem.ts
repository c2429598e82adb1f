import type { rolloutErrors } from '../errors.ts';

/** Something of a pool that cannot be used as it is. The message names it and the way out. */
export interface RolloutProblem {
  readonly code: keyof typeof rolloutErrors;
  readonly message: string;
}
