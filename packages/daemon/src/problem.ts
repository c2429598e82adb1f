/** What stands in the way, for annotations, conditions and logs. */
export interface Problem {
  /** SLW_… */
  readonly code: string;
  /** For people, with secrets masked: the object, the field, expected and found, the way out. */
  readonly message: string;
}

/** Of an error that was foreseen. Others are bugs: they are thrown again. */
export function problemOf(error: unknown): Problem {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string' && error.code.startsWith('SLW_')) {
    return { code: error.code, message: error.message };
  }
  throw error;
}
