// Machines to which the same happens, told together.
import type { NodePlan, PlannedUpdate, PoolPlan } from './fleet-plan.ts';

export interface NodeGroup {
  /** In the order of their turns. */
  readonly nodes: readonly NodePlan[];
  /** Undefined where nobody knows what they have. */
  readonly update: PlannedUpdate | undefined;
  readonly turn: NodePlan['turn'];
  readonly movesFrom: string | null;
  /** Why they cannot have a turn; '' where they can. */
  readonly why: string;
}

/** Those that nothing happens to are left out. The largest group first. */
export function nodeGroups({ nodes, updates, rollout }: Pick<PoolPlan, 'nodes' | 'updates' | 'rollout'>): NodeGroup[] {
  const updateFrom = new Map(updates.map((update) => [update.from, update]));
  const order = new Map(rollout.waves.flatMap((wave) => wave.nodes).map((name, index) => [name, index]));
  const placeOf = ({ name }: NodePlan): number => order.get(name) ?? order.size;
  const groups = Map.groupBy(
    nodes.filter(({ turn, movesFrom }) => turn !== 'none' || movesFrom !== null),
    ({ turn, current, movesFrom, why }) => JSON.stringify([turn, current, movesFrom, turn === 'skipped' ? why : '']),
  );
  return [...groups.values()]
    .flatMap((members) => {
      const [first] = members;
      if (first === undefined) return [];
      const { turn, current, movesFrom, why } = first;
      const update = turn === 'none' ? undefined : updateFrom.get(current ?? '');
      const sorted = [...members].sort((a, b) => placeOf(a) - placeOf(b) || (a.name < b.name ? -1 : 1));
      return [{ nodes: sorted, update, turn, movesFrom, why: turn === 'skipped' ? why : '' }];
    })
    .sort((a, b) => b.nodes.length - a.nodes.length);
}
