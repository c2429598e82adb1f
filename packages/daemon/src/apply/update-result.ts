// How an update ended, or where it stands.
import { type Problem, withMore } from '../problem.ts';
import type { Journal } from './journal.ts';

export type UpdateResult =
  /** recover(): nothing was under way, or nothing of the machine was changed yet. */
  | { readonly outcome: 'none' }
  /** The machine is exactly at it, verified, and `currentconfig` says so. */
  | { readonly outcome: 'new'; readonly config: string }
  /** The process will end with the machine. */
  | { readonly outcome: 'rebooting'; readonly config: string }
  | {
      readonly outcome: 'old';
      readonly config: string;
      readonly target: string;
      readonly problem: Problem;
      readonly rebooting: boolean;
    }
  /** Neither way can be gone on now; recover() tries again. Names are '' where even those are not to be read. */
  | { readonly outcome: 'stuck'; readonly from: string; readonly to: string; readonly problem: Problem };

/** The machine is settled, and at this config. */
export function isAt(result: UpdateResult, config: string): boolean {
  if (result.outcome === 'none') return true;
  if (result.outcome === 'old') return result.config === config && !result.rebooting;
  return result.outcome === 'new' && result.config === config;
}

type Names = Pick<Journal, 'from' | 'to'>;

export function old({ from, to }: Names, problem: Problem, rebooting: boolean): UpdateResult {
  return { outcome: 'old', config: from.name, target: to.name, problem, rebooting };
}

export function stuck({ from, to }: Names, problem: Problem): UpdateResult {
  return { outcome: 'stuck', from: from.name, to: to.name, problem };
}

export function stuckOnTheWayBack(names: Names, failed: Problem, cause: Problem): UpdateResult {
  return stuck(names, withMore(failed, `The update was on its way back, since this had failed: ${cause.message}`));
}
