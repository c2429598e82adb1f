// Expected failures that users read: as text, as one error, and in a pool annotation for the controller of its
// conditions.
import { decode, type Decoder, number, object, readableItems, string, withFallback } from '@slipway/base/codec';
import { maskSecrets } from '@slipway/base/masking';
import { truncate } from '@slipway/base/text';

export interface CodedProblem {
  code: string;
  /** Whole sentences: the object, the field, expected and found, what to do. */
  message: string;
}

/** As messages, events and commands show it. A problem that another client wrote has no code. */
export const formatProblem = ({ code, message }: Readonly<CodedProblem>): string =>
  code === '' ? message : `${message} [${code}]`;

/** One per line. */
export const formatProblems = (problems: readonly Readonly<CodedProblem>[]): string =>
  problems.map(formatProblem).join('\n');

/** Several expected failures together: users who fix manifests want to see all of them. */
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

/** The limit for all annotations of an object together. */
export const MAX_ANNOTATION = 256 * 1024;
/** More than a page of problems is not read. */
const MAX_PROBLEMS = 20;
const MAX_MESSAGE = 2000;

/** Masked: everyone who may read pools reads the annotation, and a problem may quote a value of a manifest. */
export function encodeProblems(problems: readonly CodedProblem[]): string {
  const shown = problems
    .slice(0, MAX_PROBLEMS)
    .map(({ code, message }) => ({ code, message: truncate(maskSecrets(message), MAX_MESSAGE) }));
  const more = problems.length - shown.length;
  return JSON.stringify(more > 0 ? { problems: shown, more } : { problems: shown });
}

const problem: Decoder<CodedProblem> = object({ code: string(), message: string() });
const listed = object({ problems: readableItems(problem), more: withFallback(number(), 0) });

/** Any client can write the annotation: unknown text is shown unchanged, but truncated. */
export function decodeProblems(annotation: string): { problems: CodedProblem[]; more: number } {
  const decoded = decode(listed, annotation, { maxChars: MAX_ANNOTATION });
  if (decoded.ok && decoded.value.problems.length > 0) return decoded.value;
  return { problems: [{ code: '', message: truncate(annotation, MAX_MESSAGE) }], more: 0 };
}
