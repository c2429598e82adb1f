export interface CodedProblem {
  code: string;
  /** Whole sentences: the object, the field, expected and found, the way out. */
  message: string;
}

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
