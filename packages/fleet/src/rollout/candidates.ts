// Which machines are given the target now, and in which order.
import type { NodeFacts } from './facts.ts';
import { isFailing, type Stand } from './standing.ts';
import { AFTER_FAILURE } from './target-reason.ts';
import { machines } from './name-list.ts';

export interface Limits {
  readonly target: string;
  /** How many of the pool may be out of service. */
  readonly maxUnavailable: number;
  /** Machines outside of the pool that count as well. */
  readonly outElsewhere: number;
  readonly wave: { readonly number: number; readonly of: number; readonly size: number; readonly given: number };
  readonly ownNode: string | null;
}

export interface Given {
  readonly node: string;
  readonly config: string;
  readonly why: string;
}

export function chosen(stands: readonly Stand[], limits: Limits): Given[] {
  const { target, wave } = limits;
  const same = stands.filter(({ standing }) => standing === 'same').sort(byTurn);
  const give = same.map((stand) => ({ node: stand.node.name, config: target, why: whyTold(stand, target) }));
  let room = wave.size - wave.given - same.length;
  const slots = slotsOf(stands, limits);
  if (room <= 0) return give;
  for (const stand of inOrder(stands, slots, limits)) {
    if (room === 0) break;
    const why = take(stand, slots, limits);
    if (why === null) continue;
    give.push({ node: stand.node.name, config: target, why });
    room -= 1;
  }
  return give;
}

/** How much of the pool is out of service, as machines are given the target one after the other. */
interface Slots {
  /** All that count against maxUnavailable. */
  unavailable: number;
  /** Those of them that are really away, or may go away at any time. One that failed and rests is neither, until it is told to move. */
  away: number;
}

function slotsOf(stands: readonly Stand[], { outElsewhere }: Limits): Slots {
  const slots = { unavailable: outElsewhere, away: outElsewhere };
  for (const stand of stands) {
    if (!stand.isUnavailable) continue;
    slots.unavailable += 1;
    if (stand.standing !== 'resting') slots.away += 1;
  }
  return slots;
}

/**
 * What is out of service already goes first, since it costs nothing, and of that what has failed. But one that is not ready is the
 * worst of canaries. The machine that the controller runs on goes after the other ones, so that the controller moves once.
 */
function tierOf({ node, standing }: Stand, ownNode: string | null): number | null {
  switch (standing) {
    case 'resting':
      return 0;
    case 'astray':
      return node.isReady ? 1 + Number(!isFailing(node)) : LAST_TIER;
    case 'available':
      return node.name === ownNode ? 4 : 3;
    case 'broken':
      return LAST_TIER;
    default:
      return null;
  }
}
const LAST_TIER = 5;

function inOrder(stands: readonly Stand[], slots: Slots, { maxUnavailable, ownNode }: Limits): Stand[] {
  const isFull = slots.unavailable >= maxUnavailable;
  const tiers: Stand[][] = Array.from({ length: LAST_TIER + 1 }, () => []);
  for (const stand of stands) {
    if (isFull && stand.standing === 'available') continue;
    const tier = tierOf(stand, ownNode);
    if (tier !== null) tiers[tier]?.push(stand);
  }
  return tiers.flatMap((tier) => tier.sort(byTurn));
}

/** Zone by zone, the oldest first. */
const byTurn = ({ node: a }: Stand, { node: b }: Stand): number =>
  compare(a.zone, b.zone) || a.createdAt - b.createdAt || compare(a.name, b.name);

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

/** Null: not now. */
function take(stand: Stand, slots: Slots, limits: Limits): string | null {
  switch (stand.standing) {
    case 'available':
      if (slots.unavailable >= limits.maxUnavailable) return null;
      slots.unavailable += 1;
      slots.away += 1;
      return whyTaken(stand.node, slots, limits);
    case 'resting':
      if (slots.away >= limits.maxUnavailable) return null;
      slots.away += 1;
      return whyTold(stand, limits.target);
    default:
      return whyTold(stand, limits.target);
  }
}

function whyTaken({ zone }: NodeFacts, { unavailable }: Slots, { wave, maxUnavailable }: Limits): string {
  const place = zone === '' ? 'the oldest' : `the oldest of zone ${zone}`;
  const canary = wave.number === 1 && wave.of > 1 ? ', which tries it for the others' : '';
  return `it is ${place} that is left in wave ${wave.number} of ${wave.of}${canary}; number ${unavailable} of at most ${machines(maxUnavailable)} out of service`;
}

function whyTold({ node, standing }: Stand, target: string): string {
  if (standing === 'same') return `${isFailing(node) ? AFTER_FAILURE : ''}it runs ${target} already`;
  if (isFailing(node)) return `${AFTER_FAILURE}${failedHow(node)}, and has its turn first`;
  if (standing === 'broken') return `it is not ready at ${node.current}, which may be the reason`;
  return `it was on its way to ${node.desired}, so that it costs nothing to turn it round`;
}

const failedHow = ({ current, desired }: NodeFacts): string =>
  desired === null || desired === current ? `it is degraded at ${current}` : `it could not become ${desired}`;
