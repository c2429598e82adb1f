// Which machines may pull now. A set is pulled by one machine of a pool first: its images may take far more space than
// their download size suggests. Then a limited number of machines pull concurrently, to protect the registry, and
// control planes pull one after the other.
import { maxPullingAnnotation } from '@slipway/api/names';
import { isDiskFull, type PinNode, type PinPool } from './pin-facts.ts';
import type { PinProblem } from './pool-summary.ts';

export interface Waiting extends Pick<PinNode, 'name' | 'pools' | 'isReady' | 'failure'> {
  /** The names of its sets that it does not have yet. */
  readonly lacks: ReadonlySet<string>;
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
  const slots = new Map([...pools.values()].map((pool) => [pool.name, computePoolSlots(pool, nodes)]));
  const turns = new Set(nodes.filter(isDone).map(({ name }) => name));
  const line = nodes.filter((node) => !isDone(node));
  const healthy = line.filter(isHealthy).sort(byTurn);
  const troubled = line.filter((node) => !isHealthy(node)).sort(byName);
  const round = Math.floor(now / ROUND_MS);
  let isWaiting = false;
  for (const node of [...healthy, ...rotated(troubled, round)]) {
    const places = listPullingPools(node, pools).map(({ name }) => slots.get(name) ?? NO_SLOTS);
    if (places.every((place) => place.free > 0 && (!place.isHeld || mayPullDespiteFullDisk(node)))) {
      turns.add(node.name);
      for (const place of places) place.free -= 1;
    } else isWaiting ||= !isHealthy(node);
  }
  return { turns, lookAgainAt: isWaiting ? (round + 1) * ROUND_MS : null };
}

/** Pools that have a set which the machine lacks. */
const listPullingPools = ({ pools: names, lacks }: Waiting, pools: ReadonlyMap<string, PinPool>): PinPool[] =>
  names.flatMap((name) => pools.get(name) ?? []).filter(({ sets }) => sets.some((set) => lacks.has(set.name)));

interface PoolSlots {
  free: number;
  /** A machine of the pool has no space for the images, so no other machine starts. */
  readonly isHeld: boolean;
}

const NO_SLOTS: PoolSlots = { free: 0, isHeld: false };

function computePoolSlots(pool: PinPool, nodes: readonly Waiting[]): PoolSlots {
  const members = nodes.filter((node) => node.pools.includes(pool.name));
  const isPulling = ({ lacks }: Waiting): boolean => pool.sets.some(({ name }) => lacks.has(name));
  return {
    free: isProven(pool, members) ? computeSlots(pool, members.length) : 1,
    isHeld: members.some((node) => node.isReady && isDiskFull(node) && isPulling(node)),
  };
}

/** Each set was pulled by a machine, or failed there for another reason than space. */
const isProven = ({ sets }: PinPool, members: readonly Waiting[]): boolean =>
  sets.every(({ name }) =>
    members.some((node) => !node.lacks.has(name) || (node.failure !== null && !isDiskFull(node))),
  );

/** What has started continues, and a machine with a full disk tries again: only then is it known when there is space. */
const mayPullDespiteFullDisk = (node: Waiting): boolean => node.hasTurn || isDiskFull(node);

const isDone = ({ lacks }: Waiting): boolean => lacks.size === 0;
const isHealthy = ({ isReady, failure }: Waiting): boolean => isReady && failure === null;
const byName = (a: Waiting, b: Waiting): number => (a.name < b.name ? -1 : 1);
const byTurn = (a: Waiting, b: Waiting): number => Number(b.hasTurn) - Number(a.hasTurn) || byName(a, b);

const rotated = <T>(list: readonly T[], by: number): T[] => {
  const start = list.length === 0 ? 0 : by % list.length;
  return [...list.slice(start), ...list.slice(0, start)];
};

/** Of the machines of a pool that is not a control plane, if it has no limit of its own. */
const DEFAULT_SHARE = 5;
const DEFAULT_LEAST = 5;

/** At least one: otherwise nothing would ever be pulled. An invalid value counts as one. */
function computeSlots({ maxPulling, isControlPlane }: PinPool, machines: number): number {
  if (maxPulling === undefined)
    return isControlPlane ? 1 : Math.max(DEFAULT_LEAST, Math.floor(machines / DEFAULT_SHARE));
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
