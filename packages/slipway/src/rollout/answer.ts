// Whether a person's request to a pool has been answered.
import { type MachineConfigPool, rolloutRequestAnnotation } from '@slipway/api';
import { poolFactsOf, type RolloutState } from '@slipway/fleet';

export type Answer = NonNullable<RolloutState['answer']>;

export type Asked =
  /** The request still stands. */
  | { readonly type: 'waiting' }
  | { readonly type: 'answered'; readonly answer: Answer }
  /** Neither the request nor an answer to it: an old view of the pool, or somebody took the request away. */
  | { readonly type: 'gone' };

/** `last` is the answer that the pool had before the request was made. */
export function askedOf(pool: MachineConfigPool, request: string, last: Answer | null): Asked {
  if (pool.metadata.annotations?.[rolloutRequestAnnotation] === request) return { type: 'waiting' };
  const answer = answerOf(pool);
  const isNew = answer !== null && answer.request === request && answer.at !== last?.at;
  return isNew ? { type: 'answered', answer } : { type: 'gone' };
}

export const answerOf = (pool: MachineConfigPool): Answer | null => poolFactsOf(pool).pool.state?.answer ?? null;
