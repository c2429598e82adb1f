/** A case of a suite that cannot hold here, and why. */
export interface KnownException {
  crdName: string;
  /** Name of the case. */
  name: string;
  reason: string;
}

/** None so far. A case in this list that does hold is reported as wrong: the list must not outlive its reasons. */
export const knownExceptions: readonly KnownException[] = [];
