// Lines in which a word of the glossary is right, with the reason. At most 20.

export interface Exception {
  readonly file: string;
  /** A part of the line. */
  readonly text: string;
  readonly reason: string;
}

export const EXCEPTIONS: readonly Exception[] = [];
