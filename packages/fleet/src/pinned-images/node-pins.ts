// The progress of one machine with the images of a pool, from what its daemon wrote to its MachineConfigNode.
import type { MachineConfigNode } from '@slipway/api';
import type { AssignedSet } from './assignment.ts';
import { holds, pinConditions, type PinNode, type PinPool, readPinReport } from './pin-facts.ts';
import { type Amount, NO_PIN_PROGRESS, parsePinProgress, type PinProgress } from './pin-progress.ts';
import { fails } from './pool-summary.ts';

export type PinPhase =
  /** All images are present and pinned. */
  | 'pinned'
  | 'pulling'
  /** It is ready to pull, but waits: `waitsFor` has the reason. */
  | 'waiting'
  /** It keeps failing: `lastError` has the reason. It retries. */
  | 'degraded'
  /** Its daemon has reported nothing yet. */
  | 'not begun';

export interface NodePins extends Omit<PinProgress, 'sets'> {
  readonly name: string;
  readonly phase: PinPhase;
  /** Of all sets of the pool together. */
  readonly images: Amount;
  readonly sets: readonly NodeSetPins[];
}

export interface NodeSetPins {
  readonly name: string;
  /** The generation of the set that the machine has pinned; null: none. */
  readonly generation: number | null;
  /** Whether that is the desired generation. */
  readonly isHeld: boolean;
  readonly images: Amount;
  readonly bytes: Amount | null;
  /** Whether the generation in progress has failed: `lastError` of the machine has the reason. */
  readonly isFailing: boolean;
}

/** The desired images of a pool: its sets, and how many images each has. */
export interface DesiredSets {
  readonly pool: PinPool;
  readonly images: ReadonlyMap<string, number>;
}

/** The last report of the daemon. An unreadable one counts as none. */
export const readPinProgress = (record: MachineConfigNode | undefined): PinProgress =>
  parsePinProgress(findCondition(record, pinConditions.progressing).message) ?? NO_PIN_PROGRESS;

export function nodePins(name: string, wanted: DesiredSets, record: MachineConfigNode | undefined): NodePins {
  const { pool, images } = wanted;
  const progress = readPinProgress(record);
  const node = readPinNode(name, record);
  const sets = pool.sets.map((set) => nodeSetPins(set, images.get(set.name) ?? 0, node, progress));
  const isFailing = fails(node, pool);
  const isPulling = findCondition(record, pinConditions.progressing).status === 'True';
  const { bytesPerSecond, secondsLeft, waitsFor, lastError, store } = progress;
  return {
    name,
    phase: computePinPhase({
      isFailing,
      isPinned: sets.every(({ isHeld }) => isHeld),
      isPulling,
      isWaiting: waitsFor !== '',
    }),
    images: sumAmounts(sets.map((set) => set.images)),
    bytes: sumSetBytes(sets, progress),
    // Stale while nothing is in progress.
    ...(isPulling
      ? { bytesPerSecond, secondsLeft, waitsFor }
      : { bytesPerSecond: null, secondsLeft: null, waitsFor: '' }),
    lastError: isFailing ? (node.failure ?? '') : lastError,
    store,
    sets,
  };
}

/** The assignment and the report, for callers that do not need pools or readiness. */
export const readPinNode = (name: string, record: MachineConfigNode | undefined): PinNode => ({
  name,
  pools: [],
  isReady: true,
  ...(record === undefined ? unreported : readPinReport(record)),
});

const unreported: ReturnType<typeof readPinReport> = {
  told: null,
  reported: new Map(),
  failure: null,
  failingSince: null,
};

function computePinPhase(node: {
  isFailing: boolean;
  isPinned: boolean;
  isPulling: boolean;
  isWaiting: boolean;
}): PinPhase {
  if (node.isFailing) return 'degraded';
  if (node.isPinned) return 'pinned';
  if (!node.isPulling) return 'not begun';
  return node.isWaiting ? 'waiting' : 'pulling';
}

function nodeSetPins(set: AssignedSet, count: number, node: PinNode, progress: PinProgress): NodeSetPins {
  const { name } = set;
  const isHeld = holds(node, set);
  const unsaid = { images: { done: isHeld ? count : 0, total: count }, bytes: null };
  const { images, bytes } = progress.sets.find((each) => each.name === name) ?? unsaid;
  const { current, isFailing } = node.reported.get(name) ?? { current: null, isFailing: false };
  return { name, generation: current, isHeld, isFailing, images, bytes };
}

/** The daemon's total counts shared images once, but it includes sets of the machine's other pools. */
function sumSetBytes(sets: readonly NodeSetPins[], progress: PinProgress): Amount | null {
  if (progress.sets.length === sets.length) return progress.bytes;
  return sumKnownAmounts(sets.map(({ bytes }) => bytes));
}

export const sumAmounts = (amounts: readonly Amount[]): Amount => ({
  done: amounts.reduce((sum, { done }) => sum + done, 0),
  total: amounts.reduce((sum, { total }) => sum + total, 0),
});

/** Null if one is unknown: a part would be mistaken for the total. */
export function sumKnownAmounts(amounts: readonly (Amount | null)[]): Amount | null {
  const known = amounts.filter((amount) => amount !== null);
  return known.length === amounts.length && known.length > 0 ? sumAmounts(known) : null;
}

const findCondition = (record: MachineConfigNode | undefined, type: string): { status: string; message: string } =>
  record?.status?.conditions?.find((condition) => condition.type === type) ?? { status: 'Unknown', message: '' };
