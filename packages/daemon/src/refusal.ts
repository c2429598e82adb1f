// An update that is not begun. What a node says of it wakes the node again: the same question then has the same answer.
import type { Prepared } from './prepare-update.ts';

export type Refused = Exclude<Prepared, { type: 'ready' }>;

/** The last answer. */
export interface Refusal {
  readonly question: string;
  readonly refused: Refused;
  /** After it the machine, the cluster and the registry are asked again. */
  readonly until: number;
}

export const HOLDS_MS = 60_000;

/** Null: the update can begin. */
export function refusalOf(question: string, prepared: Prepared, now: number): Refusal | null {
  return prepared.type === 'ready' ? null : { question, refused: prepared, until: now + holdsFor(prepared) };
}

/** The answer from before, where it still holds. */
export function answerFrom(refusal: Refusal | null, question: string, now: number): Refused | null {
  return refusal !== null && refusal.question === question && refusal.until > now ? refusal.refused : null;
}

/** That drift is gone is heard of: then the machine is looked at again at once. */
const holdsFor = (refused: Refused): number => (refused.type === 'refused' && refused.cause === 'drift' ? 0 : HOLDS_MS);
