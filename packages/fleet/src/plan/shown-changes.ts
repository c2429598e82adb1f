// The changes of an update as they may be shown.
import { HIDDEN } from '../masking.ts';
import type { Change, PathState } from '../update/update-plan.ts';

/** Not even a digest of what is secret: a short secret can be guessed from it. */
export function shownChanges(changes: readonly Change[], showSecrets: boolean): readonly Change[] {
  if (showSecrets) return changes;
  return changes.map((change) => {
    if (change.kind !== 'path' || !change.secret) return change;
    return Object.assign({}, change, { before: withoutDigest(change.before), after: withoutDigest(change.after) });
  });
}

function withoutDigest(state: PathState | null): PathState | null {
  if (state?.kind !== 'file') return state;
  return { ...state, contents: { ...state.contents, sha256: HIDDEN } };
}
