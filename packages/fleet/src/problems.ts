// Expected failures that people read: as text, as one error, and in an annotation of a pool for whoever derives its conditions.
import { isRecord, type JsonRecord } from '@slipway/base/json';

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

/** All annotations of an object together hold 256 KiB; a page of problems is more than anybody reads at once. */
const maxProblems = 20;
const maxMessage = 2000;

export function encodeProblems(problems: readonly CodedProblem[]): string {
  const shown = problems.slice(0, maxProblems).map(({ code, message }) => ({ code, message: shorten(message) }));
  const more = problems.length - shown.length;
  return JSON.stringify(more > 0 ? { problems: shown, more } : { problems: shown });
}

/** An annotation can be written by anybody: what is not ours is shown as it is, and shortened. */
export function decodeProblems(annotation: string): { problems: CodedProblem[]; more: number } {
  const { problems: listed, more } = parsed(annotation);
  const problems = Array.isArray(listed) ? listed.filter(isProblem) : [];
  if (problems.length === 0) return { problems: [{ code: '', message: shorten(annotation) }], more: 0 };
  return { problems, more: typeof more === 'number' ? more : 0 };
}

function parsed(annotation: string): JsonRecord {
  try {
    const value: unknown = JSON.parse(annotation);
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}

const isProblem = (value: unknown): value is CodedProblem =>
  isRecord(value) && typeof value['code'] === 'string' && typeof value['message'] === 'string';

const shorten = (text: string): string => (text.length <= maxMessage ? text : `${text.slice(0, maxMessage - 1)}…`);
