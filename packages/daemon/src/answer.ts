// Whether an update can begin, asked and answered with no. What a node says of the answer wakes the node again, and a Node
// changes every few seconds: the same question then has the same answer, for a while.
import type { Prepared } from './prepare-update.ts';

export type Refused = Exclude<Prepared, { type: 'ready' }>;

/** The last one. */
export interface Answer {
  readonly question: string;
  /** `drain`: it can as soon as the pods are gone. */
  readonly answer: Refused | { readonly type: 'drain' };
  /** After it the machine, the cluster and the registry are asked again. */
  readonly until: number;
}

export const HOLDS_MS = 60_000;

export function noteAnswer(question: string, answer: Answer['answer'], now: number): Answer {
  return { question, answer, until: now + holdsFor(answer) };
}

/** The answer from before, where it still holds; null: there is none. */
export function standingAnswer(last: Answer | null, question: string, now: number): Answer['answer'] | null {
  return last !== null && last.question === question && last.until > now ? last.answer : null;
}

/** That drift is gone is heard of: then the machine is looked at again at once. */
const holdsFor = (answer: Answer['answer']): number =>
  answer.type === 'refused' && answer.cause === 'drift' ? 0 : HOLDS_MS;
