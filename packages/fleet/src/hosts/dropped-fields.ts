// A CRD that does not know a field drops it without a word, as Metal3's own does with the conditions of a DataImage. To write it
// again would change nothing but a time, at every look.

import { canonicalJson } from '../render/canonical-json.ts';

/** One object's status, as it shall be and as it is, without times. */
export interface StatusSeen {
  readonly uid: string;
  readonly wanted: unknown;
  readonly found: unknown;
}

export interface DroppedFields {
  /** This very status was written before, and this is what became of it. */
  areKnown(key: string, seen: StatusSeen): boolean;
  /** Written, and not all of it was found in the answer. */
  remember(key: string, seen: StatusSeen): void;
  /** The object is gone, or has all of its fields. */
  forget(key: string): void;
  clear(): void;
}

export function createDroppedFields(): DroppedFields {
  const seenBefore = new Map<string, string>();
  return {
    areKnown: (key, seen) => seenBefore.get(key) === canonicalJson(seen),
    remember: (key, seen) => void seenBefore.set(key, canonicalJson(seen)),
    forget: (key) => void seenBefore.delete(key),
    clear: () => seenBefore.clear(),
  };
}
