// Which machines may pull now. A set is pulled by one machine of a pool first: its images may take far more space than
// their download size suggests. Then a limited number of machines pull concurrently, to protect the registry, and
// control planes pull one after the other.
import { maxPullingAnnotation } from '@slipway/api/names';
import { isDiskFull, isDiskTooSmall, type PinNode, type PinPool } from './pin-facts.ts';
import type { PinProblem } from './pool-summary.ts';

export interface Waiting extends Pick<PinNode, 'name' | 'pools' | 'isReady' | 'failure' | 'failingSince'> {
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
 * How long the first machine with a set keeps its slot although it fails. Its other images may still fill the disk: an
 * image that does not exist, next to one that unpacks to 50 GB, must not start the next machine.
 */
const FIRST_FAILS_MS = 5 * 60_000;

/**
 * A machine keeps its slot until it finishes, fails or becomes unavailable; then the next one by name gets it. Failing
 * and unavailable machines come last, and rotate. A machine in several pools needs a slot in each of them at the same
 * time, and never occupies one while it waits for another: this avoids deadlocks.
 */
export function chooseTurns(nodes: readonly Waiting[], pools: ReadonlyMap<string, PinPool>, now: number): Turns {
  const slots = new Map([...pools.values()].map((pool) => [pool.name, computePoolSlots(pool, nodes)]));
  const listPlaces = (node: Waiting): PoolSlots[] =>
    listPullingPools(node, pools).map(({ name }) => slots.get(name) ?? NO_SLOTS);
  const keepsUntil = (node: Waiting): number => computeFirstKeepsUntil(node, listPlaces(node), now);
  const turns = new Set(nodes.filter(isDone).map(({ name }) => name));
  const line = nodes.filter((node) => !isDone(node));
  const isAhead = (node: Waiting): boolean => isHealthy(node) || keepsUntil(node) > now;
  const ahead = line.filter(isAhead).sort(byTurn);
  const troubled = line.filter((node) => !isAhead(node)).sort(byName);
  const round = Math.floor(now / ROUND_MS);
  const changes = ahead.map(keepsUntil).filter((at) => at > now);
  for (const node of [...ahead, ...rotated(troubled, round)]) {
    const places = listPlaces(node);
    if (places.every((place) => place.free > 0 && (!place.isHeld || mayPullDespiteFullDisk(node)))) {
      turns.add(node.name);
      for (const place of places) place.free -= 1;
    } else if (!isHealthy(node)) changes.push((round + 1) * ROUND_MS);
  }
  return { turns, lookAgainAt: changes.length === 0 ? null : Math.min(...changes) };
}

/** 0: it is not the first one with a set, or does not fail, or pulls nothing, or failed longer ago. */
function computeFirstKeepsUntil(node: Waiting, places: readonly PoolSlots[], now: number): number {
  const { isReady, hasTurn, failingSince } = node;
  const isFirst = isReady && hasTurn && places.some(({ isProven }) => !isProven);
  if (!isFirst || failingSince === null || isDiskFull(node) || isDiskTooSmall(node)) return 0;
  // The time is of the machine, whose clock may be ahead.
  return Math.abs(now - failingSince) < FIRST_FAILS_MS ? failingSince + FIRST_FAILS_MS : 0;
}

/** Pools that have a set which the machine lacks. */
const listPullingPools = ({ pools: names, lacks }: Waiting, pools: ReadonlyMap<string, PinPool>): PinPool[] =>
  names.flatMap((name) => pools.get(name) ?? []).filter(({ sets }) => sets.some((set) => lacks.has(set.name)));

interface PoolSlots {
  free: number;
  /** Each set of the pool was pulled by a machine. */
  readonly isProven: boolean;
  /** A machine of the pool has no space for the images, so no other machine starts. */
  readonly isHeld: boolean;
}

const NO_SLOTS: PoolSlots = { free: 0, isProven: true, isHeld: false };

function computePoolSlots(pool: PinPool, nodes: readonly Waiting[]): PoolSlots {
  const members = nodes.filter((node) => node.pools.includes(pool.name));
  const isPulling = ({ lacks }: Waiting): boolean => pool.sets.some(({ name }) => lacks.has(name));
  // A machine that fails proves nothing: neither its other images nor its other sets need to have failed.
  const isProven = pool.sets.every(({ name }) => members.some(({ lacks }) => !lacks.has(name)));
  return {
    free: isProven ? computeSlots(pool, members.length) : 1,
    isProven,
    isHeld: members.some((node) => node.isReady && isDiskFull(node) && isPulling(node)),
  };
}

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
