// Which machines may pull now. A pool can limit how many of them pull concurrently, to protect the registry.
import { maxPullingAnnotation } from '@slipway/api/names';
import type { PinNode, PinPool } from './pin-facts.ts';
import type { PinProblem } from './pool-summary.ts';

export interface Waiting extends Pick<PinNode, 'name' | 'pools' | 'isReady' | 'failure'> {
  readonly isDone: boolean;
  /** It may pull its desired images now. */
  readonly hasTurn: boolean;
}

export interface Turns {
  /** A finished machine may pull too: it has at most an image to repair. */
  readonly turns: ReadonlySet<string>;
  readonly lookAgainAt: number | null;
}

/** How long machines that cannot finish keep slots that no healthy machine needs, before the next of them try. */
const ROUND_MS = 5 * 60_000;

/**
 * A machine keeps its slot until it finishes, fails or becomes unavailable; then the next one by name gets it. Failing
 * and unavailable machines come last, and rotate. A machine in several pools needs a slot in each of them at the same
 * time, and never occupies one while it waits for another: this avoids deadlocks.
 */
export function chooseTurns(nodes: readonly Waiting[], pools: ReadonlyMap<string, PinPool>, now: number): Turns {
  const limits = computeLimits(nodes, pools);
  const limited = (node: Waiting): string[] => node.pools.filter((pool) => limits.has(pool));
  const turns = new Set<string>();
  const line: Waiting[] = [];
  for (const node of nodes) {
    if (node.isDone || limited(node).length === 0) turns.add(node.name);
    else line.push(node);
  }
  const healthy = line.filter(isHealthy).sort(byTurn);
  const troubled = line.filter((node) => !isHealthy(node)).sort(byName);
  const round = Math.floor(now / ROUND_MS);
  let isWaiting = false;
  for (const node of [...healthy, ...rotated(troubled, round)]) {
    const places = limited(node);
    if (places.every((pool) => (limits.get(pool) ?? 0) > 0)) {
      turns.add(node.name);
      for (const pool of places) limits.set(pool, (limits.get(pool) ?? 0) - 1);
    } else isWaiting ||= !isHealthy(node);
  }
  return { turns, lookAgainAt: isWaiting ? (round + 1) * ROUND_MS : null };
}

const isHealthy = ({ isReady, failure }: Waiting): boolean => isReady && failure === null;
const byName = (a: Waiting, b: Waiting): number => (a.name < b.name ? -1 : 1);
const byTurn = (a: Waiting, b: Waiting): number => Number(b.hasTurn) - Number(a.hasTurn) || byName(a, b);

const rotated = <T>(list: readonly T[], by: number): T[] => {
  const start = list.length === 0 ? 0 : by % list.length;
  return [...list.slice(start), ...list.slice(0, start)];
};

/** By pool, for pools with a limit. */
function computeLimits(nodes: readonly Waiting[], pools: ReadonlyMap<string, PinPool>): Map<string, number> {
  const limits = new Map<string, number>();
  for (const { name, maxPulling } of pools.values()) {
    if (maxPulling === undefined) continue;
    const machines = nodes.filter((node) => node.pools.includes(name)).length;
    limits.set(name, computeSlots(maxPulling, machines));
  }
  return limits;
}

/** At least one: otherwise nothing would ever be pulled. An invalid value counts as one. */
function computeSlots(maxPulling: string, machines: number): number {
  const { number, isPercent } = parse(maxPulling) ?? { number: 1, isPercent: false };
  return Math.max(1, isPercent ? Math.floor((machines * number) / 100) : number);
}

function parse(text: string): { number: number; isPercent: boolean } | null {
  const [, digits, percent] = /^(\d{1,6})(%?)$/.exec(text.trim()) ?? [];
  if (digits === undefined || Number(digits) === 0) return null;
  return { number: Number(digits), isPercent: percent === '%' };
}

export function maxPullingProblem({ name, maxPulling }: PinPool): PinProblem | null {
  if (maxPulling === undefined || parse(maxPulling) !== null) return null;
  return {
    code: 'SLW_PIN_MAX_PULLING',
    message: `MachineConfigPool ${name}: annotation ${maxPullingAnnotation}: expected a number or a percentage above 0, such as 10 or 10%, found ${JSON.stringify(maxPulling.slice(0, 80))}. Until it is corrected, machines pull one at a time`,
  };
}
