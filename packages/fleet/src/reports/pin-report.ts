// The pinning progress of pools and machines as plain data: `-o json` prints it, and the tables show it.
import { type MachineConfigPool, type PinnedImageSet, pinSummaryAnnotation } from '@slipway/api';
import type { GateFinding } from '../feature-gates.ts';
import type { Stored } from '../kube-object.ts';
import { readAddedSets, type AssignedSet, takesSet } from '../pinned-images/assignment.ts';
import { type NodePins, nodePins, type PinPhase, sumAmounts, sumKnownAmounts } from '../pinned-images/node-pins.ts';
import { type PinPool, buildPinPool } from '../pinned-images/pin-facts.ts';
import type { Amount } from '../pinned-images/pin-progress.ts';
import { decodeSummary } from '../pinned-images/pool-summary.ts';
import { isMember } from '../pool-membership.ts';
import { formatProblem } from '../problems.ts';
import type { FleetSnapshot } from './fleet-snapshot.ts';

/** A fleet and the sets of images that its pools pin, at one moment. */
export interface PinSnapshot {
  readonly fleet: FleetSnapshot;
  /** By name. */
  readonly sets: ReadonlyMap<string, Stored<PinnedImageSet>>;
}

export interface PinReport {
  /** Whether images are pinned at all. Null: the cluster has no FeatureGate, so only its controllers know. */
  readonly gate: GateFinding | null;
  /** By name. */
  readonly pools: readonly PoolPins[];
}

export interface PoolPins {
  readonly name: string;
  readonly machines: Readonly<Record<Phase, number>> & { readonly total: number };
  /** Total of all machines. */
  readonly images: Amount;
  readonly bytes: Amount | null;
  readonly bytesPerSecond: number | null;
  /** Until the last machine that reports a rate is done. */
  readonly secondsLeft: number | null;
  /** How many machines may pull concurrently, from the pool's annotation; null: the default. */
  readonly maxPulling: string | null;
  readonly problems: readonly string[];
  readonly sets: readonly SetPins[];
  readonly nodes: readonly NodePins[];
}

type Phase = 'pinned' | 'pulling' | 'waiting' | 'degraded' | 'notBegun';

export interface SetPins {
  readonly name: string;
  readonly generation: number;
  readonly images: number;
  /** Whether the controller added it to the pool because of its labels; false: a user did. */
  readonly isMatched: boolean;
  /** Machines that have pinned it. */
  readonly nodes: Amount;
  /** Total transfer size of all machines; null: not known yet. */
  readonly bytes: Amount | null;
}

/** `only`: these pools; null: all. */
export function pinReport(now: PinSnapshot, gate: GateFinding | null, only: ReadonlySet<string> | null): PinReport {
  const pools = now.fleet.pools.filter(({ metadata }) => only === null || only.has(metadata.name));
  return { gate, pools: pools.map((pool) => poolPins(pool, now)) };
}

function poolPins(object: MachineConfigPool, now: PinSnapshot): PoolPins {
  const { fleet, sets } = now;
  const pool = buildPinPool(object, (name) => sets.get(name));
  const images = new Map(pool.sets.map(({ name }) => [name, sets.get(name)?.spec.pinnedImages.length ?? 0]));
  const members = pool.sets.length === 0 ? [] : fleet.nodes.filter((node) => isMember(node, object));
  const nodes = members.map(({ metadata: { name } }) =>
    nodePins(name, { pool, images }, fleet.machineConfigNodes.get(name)),
  );
  const added = new Set(readAddedSets(object));
  return {
    name: pool.name,
    machines: countPhases(nodes),
    images: sumAmounts(nodes.map((node) => node.images)),
    bytes: sumKnownAmounts(nodes.map(({ bytes }) => bytes)),
    bytesPerSecond: sumRates(nodes),
    secondsLeft: timeLeft(nodes),
    maxPulling: pool.maxPulling ?? null,
    problems: listProblems(object, pool, now),
    sets: pool.sets.map((set) => setPins(set, images.get(set.name) ?? 0, added, nodes)),
    nodes,
  };
}

const PHASES: Readonly<Record<PinPhase, Phase>> = {
  pinned: 'pinned',
  pulling: 'pulling',
  waiting: 'waiting',
  degraded: 'degraded',
  'not begun': 'notBegun',
};

function countPhases(nodes: readonly NodePins[]): PoolPins['machines'] {
  const counts = { total: nodes.length, pinned: 0, pulling: 0, waiting: 0, degraded: 0, notBegun: 0 };
  for (const { phase } of nodes) counts[PHASES[phase]] += 1;
  return counts;
}

function sumRates(nodes: readonly NodePins[]): number | null {
  const rates = nodes.flatMap(({ bytesPerSecond }) => bytesPerSecond ?? []);
  return rates.length === 0 ? null : rates.reduce((sum, rate) => sum + rate, 0);
}

function timeLeft(nodes: readonly NodePins[]): number | null {
  const times = nodes.flatMap(({ secondsLeft }) => secondsLeft ?? []);
  return times.length === 0 ? null : Math.max(...times);
}

function setPins(
  { name, generation }: AssignedSet,
  images: number,
  added: ReadonlySet<string>,
  nodes: readonly NodePins[],
): SetPins {
  const here = nodes.flatMap(({ sets }) => sets.filter((set) => set.name === name));
  return {
    name,
    generation,
    images,
    isMatched: added.has(name),
    nodes: { done: here.filter(({ isHeld }) => isHeld).length, total: here.length },
    bytes: sumKnownAmounts(here.map(({ bytes }) => bytes)),
  };
}

/** Problems visible here, and those that the controller recorded on the pool. */
function listProblems(object: MachineConfigPool, { sets, missing }: PinPool, now: PinSnapshot): string[] {
  const named = new Set([...sets.map(({ name }) => name), ...missing]);
  const unseen = [...now.sets.values()].filter((set) => !named.has(set.metadata.name) && takesSet(object, set));
  const found = decodeSummary(object.metadata.annotations?.[pinSummaryAnnotation] ?? '')?.problems ?? [];
  return [
    ...missing.map(
      (name) =>
        `spec.pinnedImageSets names PinnedImageSet ${name}, which does not exist. Create it, or remove the name from the pool`,
    ),
    ...found.filter(({ code }) => code !== 'SLW_PIN_SET_MISSING').map(formatProblem),
    ...unseen.map(
      ({ metadata: { name } }) =>
        `PinnedImageSet ${name} matches the pool, but the controller has not added it to spec.pinnedImageSets yet. If this lasts, check that a controller runs and that the feature gate PinnedImages is on`,
    ),
  ];
}
