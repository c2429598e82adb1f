import type { pinErrors } from '../errors.ts';

/** What of a pool keeps images from its machines. The message names it and the way out. */
export interface PinProblem {
  readonly code: keyof typeof pinErrors;
  readonly message: string;
}
