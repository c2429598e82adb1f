// One list of actions out of what each item asks for, the same whatever the order of the items.
import type { NodeAction, Cause } from './update-plan.ts';

export function combineActions(causes: readonly Pick<Cause, 'actions'>[]): NodeAction[] {
  let [drains, reloadsSystemd] = [false, false];
  const restarted = new Set<string>();
  for (const action of causes.flatMap(({ actions }) => actions)) {
    switch (action.type) {
      case 'Reboot':
        // After it everything is started anew.
        return [action];
      case 'Drain':
        drains = true;
        break;
      case 'DaemonReload':
        reloadsSystemd = true;
        break;
      case 'Restart':
        restarted.add(action.unit);
        break;
      case 'Reload':
        // Of every unit, below.
        break;
      default:
        action satisfies never;
    }
  }
  return [
    ...(drains ? [{ type: 'Drain' } as const] : []),
    ...(reloadsSystemd ? [{ type: 'DaemonReload' } as const] : []),
    ...orderUnits(causes.map(unitsIn)).map((unit) => {
      // A unit that is restarted reads everything that a reload would let it read.
      return { type: restarted.has(unit) ? 'Restart' : 'Reload', unit } as const;
    }),
  ];
}

export const needsDrain = (actions: readonly NodeAction[]): boolean => actions.some(takesPodsAway);

function takesPodsAway({ type }: NodeAction): boolean {
  switch (type) {
    case 'Drain':
    case 'Reboot':
      return true;
    case 'DaemonReload':
    case 'Reload':
    case 'Restart':
      return false;
  }
}

function unitsIn({ actions }: Pick<Cause, 'actions'>): string[] {
  return [...new Set(actions.flatMap((action) => ('unit' in action ? [action.unit] : [])))];
}

/** An entry's order is kept, for the second may need what the first does. Where entries contradict each other or say nothing, by name. */
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
