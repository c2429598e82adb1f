// Combines the actions that each item requires into one list, independent of the order of the items.
import type { NodeAction, Cause } from './update-plan.ts';

interface Effect {
  /** Actions with a lower number come first. Unit actions share one and are ordered separately. */
  readonly turn: number;
  readonly takesPodsAway: boolean;
  /** A reboot restarts everything, so no other action is needed. */
  readonly reboots: boolean;
}

const effects: Readonly<Record<NodeAction['type'], Effect>> = {
  Drain: { turn: 0, takesPodsAway: true, reboots: false },
  DaemonReload: { turn: 1, takesPodsAway: false, reboots: false },
  Reload: { turn: 2, takesPodsAway: false, reboots: false },
  Restart: { turn: 2, takesPodsAway: false, reboots: false },
  Reboot: { turn: 3, takesPodsAway: true, reboots: true },
};

export function combineActions(causes: readonly Pick<Cause, 'actions'>[]): NodeAction[] {
  const asked = causes.flatMap(({ actions }) => actions);
  const ofMachine = new Map(asked.flatMap((action) => ('unit' in action ? [] : [[action.type, action]])));
  const restarted = new Set(asked.flatMap((action) => (action.type === 'Restart' ? [action.unit] : [])));
  const ofUnits = orderUnits(causes.map(unitsIn)).map((unit) => {
    // A restart includes everything that a reload does.
    return { type: restarted.has(unit) ? 'Restart' : 'Reload', unit } as const;
  });
  const all = [...ofMachine.values(), ...ofUnits].toSorted((a, b) => effects[a.type].turn - effects[b.type].turn);
  const last = all.at(-1);
  return last !== undefined && effects[last.type].reboots ? [last] : all;
}

export const needsDrain = (actions: readonly NodeAction[]): boolean =>
  actions.some(({ type }) => effects[type].takesPodsAway);

export const needsReboot = (actions: readonly NodeAction[]): boolean =>
  actions.some(({ type }) => effects[type].reboots);

function unitsIn({ actions }: Pick<Cause, 'actions'>): string[] {
  return [...new Set(actions.flatMap((action) => ('unit' in action ? [action.unit] : [])))];
}

/** Retains the order within an entry, because a unit may need the one before it. Otherwise, or on contradictions, by name. */
function orderUnits(sequences: readonly (readonly string[])[]): string[] {
  const left = new Set(sequences.flat().sort());
  const ordered: string[] = [];
  while (left.size > 0) {
    const waits = new Set(sequences.flatMap((units) => units.filter((unit) => left.has(unit)).slice(1)));
    const [first = ''] = left;
    const next = left.values().find((unit) => !waits.has(unit)) ?? first;
    left.delete(next);
    ordered.push(next);
  }
  return ordered;
}
