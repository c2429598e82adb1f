// Plans the PinnedImageSets of a list of images, and whether they fit on each machine of a pool.
import type { MachineConfigPool, PinnedImageSet } from '@slipway/api';
import {
  sumImageBytes,
  diskBytesFor,
  type GateFinding,
  holds,
  isMember,
  type LabelSelector,
  matchesSelector,
  MAX_SETS,
  type NodeFit,
  nodeFit,
  type PinNode,
  readPinNode,
  readPinProgress,
  type SizedImage,
  takesSet,
} from '@slipway/fleet';
import type { PinSnapshot } from '@slipway/fleet/reports';
import type { Stored } from '@slipway/kube';
import { CommandError } from '../cli/errors.ts';
import { MAX_IMAGES } from './image-list.ts';

export interface DesiredImages {
  readonly source: PinPlan['source'];
  /** Name of the first set. */
  readonly name: string;
  readonly images: readonly string[];
  /** By name; null: no registry was queried. */
  readonly sizes: ReadonlyMap<string, SizedImage> | null;
}

export interface PlanRequest {
  readonly pool: MachineConfigPool;
  readonly wanted: DesiredImages;
  readonly now: PinSnapshot;
  readonly gate: GateFinding | null;
  readonly dryRun: boolean;
}

/** Throws if the sets cannot be created. */
export function planSets({ pool, wanted, now, gate, dryRun }: PlanRequest): { plan: PinPlan; sets: NewSet[] } {
  const { source, name, images, sizes } = wanted;
  const sets = newSets({ name, images, labels: labelsMatching(pool), present: now.sets });
  checkRoom(pool, sets);
  const pools = now.fleet.pools.filter((each) => sets.some(({ object }) => takesSet(each, object)));
  const bytes = sizes === null ? null : sumImageBytes(sizes.values());
  const plan: PinPlan = {
    source,
    pool: pool.metadata.name,
    pools: pools.map(({ metadata }) => metadata.name),
    images: images.length,
    bytes,
    diskBytes: bytes === null ? null : diskBytesFor(bytes),
    sets: sets.map(({ object, change, added, removed }) => ({
      name: object.metadata.name,
      labels: object.metadata.labels ?? {},
      change,
      added,
      removed,
      images: object.spec.pinnedImages.map((image) => image.name),
    })),
    nodes: computeFits(pools, wanted, sets, now),
    notes: formatNotes(gate, leftOver({ name, images, present: now.sets })),
    dryRun,
    written: false,
  };
  return { plan, sets };
}

function checkRoom({ metadata, spec }: MachineConfigPool, sets: readonly NewSet[]): void {
  const names = new Set((spec.pinnedImageSets ?? []).map(({ name }) => name));
  for (const { object } of sets) names.add(object.metadata.name);
  if (names.size <= MAX_SETS) return;
  throw new CommandError(
    'SLW_CLI_PIN_POOL',
    `MachineConfigPool ${metadata.name}: expected at most ${MAX_SETS} PinnedImageSets, found ${names.size} with the new ones. Delete sets that are no longer needed; slipway pin status ${metadata.name} lists them`,
  );
}

function computeFits(
  pools: readonly MachineConfigPool[],
  { sizes }: DesiredImages,
  sets: readonly NewSet[],
  { fleet, sets: present }: PinSnapshot,
): NodeFit[] {
  const names = new Set(sets.map(({ object }) => object.metadata.name));
  return fleet.nodes
    .filter((node) => pools.some((pool) => isMember(node, pool)))
    .map(({ metadata: { name: node } }) => {
      const record = fleet.machineConfigNodes.get(node);
      const held = heldSets(readPinNode(node, record), present).flatMap(({ spec }) => spec.pinnedImages);
      return nodeFit({
        node,
        progress: readPinProgress(record),
        wanted: sizes,
        held: new Set(held.map((image) => image.name)),
        sets: names,
      });
    });
}

const heldSets = (node: PinNode, present: PinSnapshot['sets']): Stored<PinnedImageSet>[] =>
  [...present.values()].filter(({ metadata: { name, uid, generation = 1 } }) => holds(node, { name, uid, generation }));

function formatNotes(gate: GateFinding | null, left: readonly string[]): string[] {
  return [
    ...(gate?.isOn === false
      ? [
          `The feature gate PinnedImages is off (${gate.because}): sets can be created, but no machine pulls anything until it is on.`,
        ]
      : []),
    ...(left.length === 0
      ? []
      : [
          `${left.join(', ')} ${left.length === 1 ? 'remains' : 'remain'} from a longer list of this name, with images pinned. To unpin: kubectl delete pinnedimageset ${left.join(' ')}`,
        ]),
  ];
}

/** What `slipway pin release` and `pin images` would do, or did. `-o json` prints exactly this. */
export interface PinPlan {
  /** Where the images come from. */
  readonly source: { readonly release: string; readonly version: string | null } | { readonly file: string };
  readonly pool: string;
  /** All pools whose machines will pull the images: the labels of a set may match several. */
  readonly pools: readonly string[];
  readonly images: number;
  /** Download of a machine without any of the layers, counting shared layers once; null: no registry was queried. */
  readonly bytes: number | null;
  /** Disk space on that machine. */
  readonly diskBytes: number | null;
  readonly sets: readonly PlannedSet[];
  /** Sorted by name. */
  readonly nodes: readonly NodeFit[];
  readonly notes: readonly string[];
  readonly dryRun: boolean;
  /** Whether anything was written. */
  readonly written: boolean;
}

export interface PlannedSet {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The required change; `none`: the set already exists like this. */
  readonly change: 'make' | 'change' | 'none';
  /** Images added to or removed from an existing set. */
  readonly added: number;
  readonly removed: number;
  readonly images: readonly string[];
}

/** For scripts that check before they pin: 2 if a machine may lack space, or it is unknown. */
export const toExitCode = ({ nodes }: Pick<PinPlan, 'nodes'>): number =>
  nodes.every(({ verdict }) => verdict === 'fits') ? 0 : 2;

export interface NewSet {
  readonly object: PinnedImageSet;
  /** The existing set; null: there is none of this name. */
  readonly before: Stored<PinnedImageSet> | null;
  readonly change: 'make' | 'change' | 'none';
  readonly added: number;
  readonly removed: number;
}

export interface SetsRequest {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly images: readonly string[];
  /** By name. */
  readonly present: ReadonlyMap<string, Stored<PinnedImageSet>>;
}

export function newSets({ name, labels, images, present }: SetsRequest): NewSet[] {
  const parts = Array.from({ length: Math.ceil(images.length / MAX_IMAGES) }, (_, index) =>
    images.slice(index * MAX_IMAGES, (index + 1) * MAX_IMAGES),
  );
  return parts.map((part, index) => newSet(setName(name, index), labels, part, present));
}

/** The labels that the pool's selector requires, and no more. */
export function labelsMatching({ metadata: { name }, spec }: MachineConfigPool): Record<string, string> {
  const selector = spec.machineConfigSelector ?? {};
  const labels = { ...fromExpressions(selector, name), ...selector.matchLabels };
  // An empty selector would match every set, so pinning for the whole cluster must be explicit.
  if (Object.keys(labels).length > 0 && matchesSelector(selector, labels)) return labels;
  throw new CommandError(
    'SLW_CLI_PIN_POOL',
    `MachineConfigPool ${name}: spec.machineConfigSelector: expected a selector that labels of a PinnedImageSet can match, such as matchLabels with a role, found ${JSON.stringify(selector).slice(0, 300)}. ` +
      `Create the set yourself (slipway pin … --dry-run -o json lists the images), and add it to spec.pinnedImageSets of the pool`,
  );
}

/** Prefers the pool's own role: with worker's, every worker would pull the images. */
function fromExpressions({ matchExpressions = [] }: LabelSelector, pool: string): Record<string, string> {
  const wanted: Record<string, string> = {};
  for (const { key, operator, values = [] } of matchExpressions) {
    if (operator === 'In') wanted[key] = values.includes(pool) ? pool : (values[0] ?? '');
    else if (operator === 'Exists') wanted[key] ??= '';
  }
  return wanted;
}

/** The first set has no suffix, so that it keeps its name when the list grows past one set. */
const setName = (name: string, index: number): string => (index === 0 ? name : `${name}-${index + 1}`);

function newSet(
  name: string,
  labels: Readonly<Record<string, string>>,
  images: readonly string[],
  present: SetsRequest['present'],
): NewSet {
  const object: PinnedImageSet = {
    metadata: { name, labels: { ...labels } },
    spec: { pinnedImages: images.map((image) => ({ name: image })) },
  };
  const before = present.get(name) ?? null;
  if (before === null) return { object, before, change: 'make', added: images.length, removed: 0 };
  const old = new Set(before.spec.pinnedImages.map((image) => image.name));
  const added = images.filter((image) => !old.has(image)).length;
  const removed = old.size + added - images.length;
  const isLabelled = Object.entries(labels).every(([key, value]) => before.metadata.labels?.[key] === value);
  return { object, before, change: added + removed === 0 && isLabelled ? 'none' : 'change', added, removed };
}

/** Sets of an earlier, longer list of the same name. They stay, because the user did not ask to unpin their images. */
export function leftOver({ name, images, present }: Omit<SetsRequest, 'labels'>): string[] {
  const first = Math.ceil(images.length / MAX_IMAGES);
  const left: string[] = [];
  for (let index = Math.max(1, first); present.has(setName(name, index)); index += 1) left.push(setName(name, index));
  return left;
}
