import { kernelArgumentsChange } from './kernel-arguments.ts';
import type { Change, PathChange, UpdatePlan } from './update-plan.ts';

/**
 * The way back from a plan, however far it was carried out: undoing what was not done yet changes nothing. It is not the
 * plan from `to` to `from`, which would refuse to make a directory again that the machine had.
 */
export function rollbackOf({ changes }: Pick<UpdatePlan, 'changes'>): Change[] {
  return changes.map(undo).toReversed();
}

const OPPOSITE: Readonly<Record<PathChange['change'], PathChange['change']>> = {
  added: 'removed',
  removed: 'added',
  changed: 'changed',
};

function undo(change: Change): Change {
  switch (change.kind) {
    case 'path':
      return { ...change, change: OPPOSITE[change.change], before: change.after, after: change.before };
    case 'unit':
      return { ...change, before: change.after, after: change.before };
    case 'ssh keys': {
      const { added, removed, before, after } = change;
      return { ...change, added: removed, removed: added, before: after, after: before };
    }
    case 'password':
      return { ...change, before: change.after, after: change.before };
    case 'kernel arguments':
      // Arguments are put back in their order, so what is removed is not always what was added.
      return kernelArgumentsChange(change.after, change.before) ?? change;
    case 'extensions':
      return { ...change, added: change.removed, removed: change.added };
    case 'setting':
      return { ...change, before: change.after, after: change.before };
  }
}
