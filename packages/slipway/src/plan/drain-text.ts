// Whom drains would evict, and what would hold them up, for people.
import type { NodePlan, PoolPlan } from '@slipway/fleet/plan';
import { counted, nameList } from '../cli/terminal.ts';

export function drainLines({ nodes }: Pick<PoolPlan, 'nodes'>, verbose: boolean): string[] {
  const drained = nodes.filter(({ drain }) => drain !== null);
  if (drained.length === 0) return [];
  const machines = counted(drained.length, 'machine');
  const lists = drained.map(({ drain }) => drain?.evicted ?? null);
  if (lists.includes(null)) return [`  Drains: ${machines}; which pods that evicts is not known`];
  const pods = lists.reduce((sum, list) => sum + (list?.length ?? 0), 0);
  return [
    `  Drains: ${machines}; ${counted(pods, 'pod')} evicted`,
    ...(verbose ? drained.flatMap(podLines) : []),
    ...budgetLines(drained, verbose),
  ];
}

function podLines({ name, drain }: NodePlan): string[] {
  const evicted = drain?.evicted ?? [];
  return evicted.length === 0 ? [] : [`    ${name}: ${evicted.join(', ')}`];
}

interface Obstacle {
  readonly budget: string;
  readonly allowed: number;
  /** Each machine with how many pods. */
  readonly where: readonly string[];
}

const SHOWN_BUDGETS = 5;

/** By budget: one that is at its limit holds up every machine with a pod of it. Those first that allow least. */
function budgetLines(drained: readonly NodePlan[], verbose: boolean): string[] {
  const blocked = drained.flatMap(({ name, drain }) => (drain?.blockedBy ?? []).map((by) => ({ name, by })));
  const obstacles = [...Map.groupBy(blocked, ({ by }) => by.budget)].map(([budget, places]): Obstacle => {
    const where = places.map(({ name, by }) => `${name} (${counted(by.pods.length, 'pod')})`);
    return { budget, allowed: places[0]?.by.allowed ?? 0, where };
  });
  const sorted = obstacles.sort((a, b) => a.allowed - b.allowed || b.where.length - a.where.length);
  const shown = verbose ? sorted : sorted.slice(0, SHOWN_BUDGETS);
  const more = sorted.length - shown.length;
  return [
    ...shown.map((obstacle) => obstacleText(obstacle, verbose)),
    ...(more > 0 ? [`    and ${counted(more, 'budget')} more (-v shows them)`] : []),
  ];
}

function obstacleText({ budget, allowed, where }: Obstacle, verbose: boolean): string {
  const meaning =
    allowed === 0
      ? 'allows no eviction now: the drain waits until it does'
      : `allows ${counted(allowed, 'eviction')} now: the others wait for new pods elsewhere`;
  return `    PodDisruptionBudget ${budget} ${meaning}; ${nameList(where, verbose)}`;
}
