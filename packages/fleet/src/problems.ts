// Expected failures that people read: as text, as one error, and in an annotation of a pool for whoever derives its conditions.
import { decode, type Decoder, number, object, readableItems, string, withFallback } from '@slipway/base/codec';
import { truncate } from '@slipway/base/text';

export interface CodedProblem {
  code: string;
  /** Whole sentences: the object, the field, expected and found, the way out. */
  message: string;
}

/** As messages, events and commands show it. What somebody else wrote into an annotation has no code. */
export const formatProblem = ({ code, message }: Readonly<CodedProblem>): string =>
  code === '' ? message : `${message} [${code}]`;

/** A line each. */
export const formatProblems = (problems: readonly Readonly<CodedProblem>[]): string =>
  problems.map(formatProblem).join('\n');

/** Several expected failures at once: whoever mends a fleet's manifests wants to know all of them. */
export class ProblemList extends Error {
  readonly problems: readonly CodedProblem[];

  constructor(problems: readonly CodedProblem[]) {
    super(problems.map(({ message }) => message).join('; '));
    this.name = 'ProblemList';
    this.problems = problems;
  }

  static of(code: string, messages: readonly string[]): ProblemList {
    return new ProblemList(messages.map((message) => ({ code, message })));
  }
}

/** All annotations of an object together hold so much. */
export const MAX_ANNOTATION = 256 * 1024;
/** A page of problems is more than anybody reads at once. */
const MAX_PROBLEMS = 20;
const MAX_MESSAGE = 2000;

export function encodeProblems(problems: readonly CodedProblem[]): string {
  const shown = problems
    .slice(0, MAX_PROBLEMS)
    .map(({ code, message }) => ({ code, message: truncate(message, MAX_MESSAGE) }));
  const more = problems.length - shown.length;
  return JSON.stringify(more > 0 ? { problems: shown, more } : { problems: shown });
}

const problem: Decoder<CodedProblem> = object({ code: string(), message: string() });
const listed = object({ problems: readableItems(problem), more: withFallback(number(), 0) });

/** An annotation can be written by anybody: what is not ours is shown as it is, and shortened. */
export function decodeProblems(annotation: string): { problems: CodedProblem[]; more: number } {
  const decoded = decode(listed, annotation, { maxChars: MAX_ANNOTATION });
  if (decoded.ok && decoded.value.problems.length > 0) return decoded.value;
  return { problems: [{ code: '', message: truncate(annotation, MAX_MESSAGE) }], more: 0 };
}
