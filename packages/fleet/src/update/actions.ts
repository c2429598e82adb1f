// One list of actions out of what each item asks for, the same whatever the order of the items.
import type { NodeAction, Cause } from './update-plan.ts';

export function combineActions(causes: readonly Pick<Cause, 'actions'>[]): NodeAction[] {
  const wanted = causes.flatMap(({ actions }) => actions);
  const has = (type: NodeAction['type']) => wanted.some((action) => action.type === type);
  // After it everything is started anew.
  if (has('Reboot')) return [{ type: 'Reboot' }];
  const restarted = new Set(wanted.flatMap((action) => (action.type === 'Restart' ? [action.unit] : [])));
  return [
    ...(has('Drain') ? [{ type: 'Drain' } as const] : []),
    ...(has('DaemonReload') ? [{ type: 'DaemonReload' } as const] : []),
    ...orderUnits(causes.map(unitsIn)).map((unit) => {
      // A unit that is restarted reads everything that a reload would let it read.
      return { type: restarted.has(unit) ? 'Restart' : 'Reload', unit } as const;
    }),
  ];
}

export function needsDrain(actions: readonly NodeAction[]): boolean {
  return actions.some(({ type }) => type === 'Drain' || type === 'Reboot');
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
