import { type MachineConfigPool, pinSummaryAnnotation } from '@slipway/api';
import { array, boolean, decode, type Decoder, integer, object, oneOf, refine, string } from '@slipway/base/codec';
import { pinErrors } from '../errors.ts';
import { formatProblem } from '../problems.ts';
import { collectSets } from './assign-sets.ts';
import { MAX_SETS } from './assignment.ts';
import { holds, isDiskFull, type PinNode, type PinPool } from './pin-facts.ts';
import { maxPullingProblem } from './turns.ts';

/** A problem of a pool that keeps images from its machines. The message names it and what to do. */
export interface PinProblem {
  readonly code: keyof typeof pinErrors;
  readonly message: string;
}

// The progress of a pool's machines with their images: stored in an annotation of the pool, from which its status is
// derived.

export interface PinSummary {
  /** Of the pool at that time. */
  readonly generation: number;
  readonly machines: number;
  /** Machines that have all sets of the pool, and do not fail. */
  readonly updated: number;
  readonly degraded: number;
  /** Of the degraded ones. */
  readonly fullDisks: number;
  /** The first of the degraded ones by name; those with a full disk come first. */
  readonly nodes: readonly DegradedNode[];
  readonly problems: readonly PinProblem[];
}

export interface DegradedNode {
  readonly name: string;
  readonly message: string;
  readonly isDiskFull: boolean;
}

const codes = Object.keys(pinErrors) as (keyof typeof pinErrors)[];

const MAX_NODES = 10;
const MAX_PROBLEMS = 5;
const MAX_MESSAGE_LENGTH = 300;
const MAX_BYTES = 8000;

/** Null: the pool has no sets, so there is nothing to report. */
export function summarizePins(
  pool: PinPool,
  nodes: readonly PinNode[],
  pools: ReadonlyMap<string, PinPool>,
  found: readonly PinProblem[] = [],
): PinSummary | null {
  if (pool.sets.length === 0 && pool.missing.length === 0 && found.length === 0) return null;
  const members = nodes.filter((node) => node.pools.includes(pool.name));
  const degraded = members.flatMap((node) => (fails(node, pool) ? [toDegradedNode(node)] : []));
  return {
    generation: pool.generation,
    machines: members.length,
    updated: members.filter((node) => !fails(node, pool) && pool.sets.every((set) => holds(node, set))).length,
    degraded: degraded.length,
    fullDisks: degraded.filter(({ isDiskFull }) => isDiskFull).length,
    nodes: degraded.sort(fullFirst).slice(0, MAX_NODES),
    problems: [
      ...found,
      ...[missingProblem(pool), maxPullingProblem(pool), crowdedProblem(members, pools)].filter(
        (each) => each !== null,
      ),
    ].slice(0, MAX_PROBLEMS),
  };
}

/** Whether a machine fails because of this pool: because of one of its sets, or for a reason unrelated to any set. */
export function fails({ failure, reported }: PinNode, { sets }: PinPool): boolean {
  if (failure === null) return false;
  const failing = [...reported].filter(([, { isFailing }]) => isFailing).map(([name]) => name);
  return failing.length === 0 || sets.some(({ name }) => failing.includes(name));
}

const toDegradedNode = (node: PinNode): DegradedNode => ({
  name: node.name,
  message: oneLine(node.failure ?? '')
    .slice(0, MAX_MESSAGE_LENGTH)
    .toWellFormed(),
  isDiskFull: isDiskFull(node),
});

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();
const fullFirst = (a: DegradedNode, b: DegradedNode): number =>
  Number(b.isDiskFull) - Number(a.isDiskFull) || (a.name < b.name ? -1 : 1);

function missingProblem({ name, missing }: PinPool): PinProblem | null {
  if (missing.length === 0) return null;
  const shown = missing.slice(0, 3).join(', ') + (missing.length > 3 ? ` and ${missing.length - 3} more` : '');
  return {
    code: 'SLW_PIN_SET_MISSING',
    message: `MachineConfigPool ${name}: spec.pinnedImageSets: expected existing PinnedImageSets, found none named ${shown}. Create the set, or remove the name from the pool`,
  };
}

function crowdedProblem(members: readonly PinNode[], pools: ReadonlyMap<string, PinPool>): PinProblem | null {
  const crowded = members
    .map((node) => ({ node, leftOut: collectSets(node, pools).leftOut }))
    .filter(({ leftOut }) => leftOut > 0);
  const [first] = crowded.sort((a, b) => (a.node.name < b.node.name ? -1 : 1));
  if (first === undefined) return null;
  const others = crowded.length > 1 ? ` (and ${crowded.length - 1} more nodes)` : '';
  return {
    code: 'SLW_PIN_TOO_MANY_SETS',
    message: `Node ${first.node.name}${others}: expected at most ${MAX_SETS} PinnedImageSets from pools ${first.node.pools.join(' and ')} together, found ${MAX_SETS + first.leftOut}: the last ${first.leftOut} by name are ignored. Combine the images into fewer sets: a set can have 500`,
  };
}

/** Machines are dropped until it is short enough: all annotations of an object share 256 KiB. */
export function encodeSummary(summary: PinSummary): string {
  for (let nodes = summary.nodes; ; nodes = nodes.slice(0, -1)) {
    const text = JSON.stringify({ ...summary, nodes, problems: summary.problems.map(shortened) });
    if (nodes.length === 0 || new TextEncoder().encode(text).length <= MAX_BYTES) return text;
  }
}

const shortened = ({ code, message }: PinProblem): PinProblem => ({
  code,
  message: message.slice(0, 2 * MAX_MESSAGE_LENGTH).toWellFormed(),
});

const count = integer({ min: 0 });

const summary: Decoder<PinSummary> = refine(
  object({
    generation: count,
    machines: count,
    updated: count,
    degraded: count,
    fullDisks: count,
    nodes: array(object({ name: string(), message: string(), isDiskFull: boolean })),
    problems: array(object({ code: oneOf(codes), message: string() })),
  }),
  ({ machines, updated, degraded, fullDisks }) => updated + degraded <= machines && fullDisks <= degraded,
  'parts that are not more than the whole',
);

/** Null: not written by a controller. */
export function decodeSummary(text: string): PinSummary | null {
  const decoded = decode(summary, text, { maxChars: 2 * MAX_BYTES });
  return decoded.ok ? decoded.value : null;
}

// The pinned images in the status of a pool.

export type PoolSynchronizer = NonNullable<NonNullable<MachineConfigPool['status']>['poolSynchronizersStatus']>[number];

export interface PinFinding {
  readonly reason: string;
  /** '': no problem. */
  readonly message: string;
}

export interface PoolPins {
  /** Empty: the pool has no sets. */
  readonly synchronizers: readonly PoolSynchronizer[];
  /** Of the condition PinnedImageSetsDegraded. */
  readonly degraded: PinFinding;
  /** What makes the whole pool Degraded: only a full disk. */
  readonly full: PinFinding;
}

const OTHERS_WAIT = 'Until it has space, no other machine of the pool starts to pull';

const fine: PinFinding = { reason: 'AsExpected', message: '' };

/** Null: no summary exists yet, or the pool has no sets. */
export function buildPoolPins(summary: PinSummary | null): PoolPins {
  if (summary === null) return { synchronizers: [], degraded: fine, full: fine };
  const { generation, machines, updated, degraded, fullDisks, nodes, problems } = summary;
  const full = nodes.filter(({ isDiskFull }) => isDiskFull);
  const said = [...problems.map(formatProblem), nodesText(nodes, degraded)];
  return {
    synchronizers: [
      {
        poolSynchronizerType: 'PinnedImageSets',
        machineCount: machines,
        updatedMachineCount: updated,
        readyMachineCount: updated,
        availableMachineCount: machines - degraded,
        unavailableMachineCount: degraded,
        observedGeneration: generation,
      },
    ],
    degraded: {
      reason: selectReason(degraded, problems.length),
      message: said.filter((text) => text !== '').join('\n'),
    },
    full:
      fullDisks === 0
        ? fine
        : { reason: 'PinnedImagesDiskFull', message: `${nodesText(full, fullDisks)}. ${OTHERS_WAIT}` },
  };
}

function selectReason(degraded: number, problems: number): string {
  if (degraded > 0) return 'PrefetchFailed';
  return problems > 0 ? 'PinnedImageSetsInvalid' : fine.reason;
}

function nodesText(nodes: readonly DegradedNode[], count: number): string {
  if (count === 0) return '';
  const shown = nodes.map(({ name, message }) => `Node ${name} is reporting: "${message}"`);
  const more = count - nodes.length;
  return [...shown, ...(more > 0 ? [`and ${more} more ${more === 1 ? 'node' : 'nodes'}`] : [])].join(', ');
}

/** What the pinned image controllers store on a pool for the controller of its status. */
export function readPinSummary({ metadata }: MachineConfigPool): PinSummary | null {
  const annotation = metadata.annotations?.[pinSummaryAnnotation];
  return annotation === undefined ? null : decodeSummary(annotation);
}
