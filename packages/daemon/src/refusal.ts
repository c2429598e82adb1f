// An update that is not begun. What a node says of it wakes the node again: the same question then has the same answer.
import type { Prepared } from './prepare-update.ts';

export type Refused = Exclude<Prepared, { type: 'ready' }>;

export interface Refusals {
  /** The answer from before, where it still holds. */
  answerTo(question: string): Refused | null;
  /** The last answer was to this question, whether it still holds or not. */
  isKnown(question: string): boolean;
  note(question: string, prepared: Prepared): void;
}

/** After it the machine, the cluster and the registry are asked again. */
export const HOLDS_MS = 60_000;

export function createRefusals(now: () => number): Refusals {
  let last: { readonly question: string; readonly refused: Refused; readonly until: number } | null = null;
  return {
    answerTo: (question) => (last !== null && last.question === question && last.until > now() ? last.refused : null),
    isKnown: (question) => last?.question === question,
    note(question, prepared) {
      last = prepared.type === 'ready' ? null : { question, refused: prepared, until: now() + holdsFor(prepared) };
    },
  };
}

/** That drift is gone is heard of: then the machine is looked at again at once. */
const holdsFor = (refused: Refused): number => (refused.type === 'refused' && refused.cause === 'drift' ? 0 : HOLDS_MS);
