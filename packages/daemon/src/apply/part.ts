// A part of an update, by whose name its failure is told.
import { type Problem, problemOf } from '../problem.ts';

export interface Part {
  readonly name: string;
  act(): Promise<void>;
}

/** Null: all parts were done. What comes after a failure is not begun. */
export async function firstProblem(parts: readonly Part[]): Promise<Problem | null> {
  for (const part of parts) {
    try {
      await part.act();
    } catch (error) {
      return problemOf(error, part.name);
    }
  }
  return null;
}
