// How many machines of a pool may be out of service at once.
import type { RolloutProblem } from './problem.ts';

type Limit = { readonly nodes: number } | { readonly percent: number };

/** Never less than one: a pool that can give up none would never change. What cannot be read counts as one. */
export function maxUnavailableOf(value: number | string | undefined, nodes: number): number {
  const limit = limitOf(value) ?? { nodes: 1 };
  const wanted = 'nodes' in limit ? limit.nodes : Math.floor((nodes * limit.percent) / 100);
  return Math.max(1, Math.min(wanted, nodes));
}

export function maxUnavailableProblem(pool: string, value: number | string | undefined): RolloutProblem | null {
  if (limitOf(value) !== null) return null;
  return {
    code: 'SLW_ROLLOUT_MAX_UNAVAILABLE',
    message: `MachineConfigPool ${pool}: spec.maxUnavailable: expected a number or a percentage such as 3 or 10%, found ${JSON.stringify(value).slice(0, 80)}. Until it is corrected, machines go one at a time`,
  };
}

function limitOf(value: number | string | undefined): Limit | null {
  if (value === undefined) return { nodes: 1 };
  if (typeof value === 'number') return Number.isInteger(value) && value >= 0 ? { nodes: value } : null;
  const [, digits, percent] = /^(\d{1,6})(%?)$/.exec(value.trim()) ?? [];
  if (digits === undefined) return null;
  return percent === '' ? { nodes: Number(digits) } : { percent: Number(digits) };
}
