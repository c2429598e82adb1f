// What making the PinnedImageSets of a list of images means for a pool and each of its machines.
import type { MachineConfigPool, PinnedImageSet } from '@slipway/api';
import {
  bytesOf,
  diskBytesFor,
  type GateFinding,
  holds,
  isMember,
  MOST_SETS,
  type NodeFit,
  nodeFit,
  type PinNode,
  pinNodeOf,
  progressOf,
  type SizedImage,
  takesSet,
} from '@slipway/fleet';
import type { PinsNow } from '@slipway/fleet/reports';
import type { Stored } from '@slipway/kube';
import { CommandError } from '../cli/errors.ts';
import { labelsMatching } from './matching-labels.ts';
import { leftOver, type NewSet, newSets } from './new-sets.ts';
import type { PinPlan } from './pin-plan.ts';

export interface WantedImages {
  readonly source: PinPlan['source'];
  /** Of the first set. */
  readonly name: string;
  readonly images: readonly string[];
  /** By name; null: nobody was asked. */
  readonly sizes: ReadonlyMap<string, SizedImage> | null;
}

export interface PlanRequest {
  readonly pool: MachineConfigPool;
  readonly wanted: WantedImages;
  readonly now: PinsNow;
  readonly gate: GateFinding | null;
  readonly dryRun: boolean;
}

/** Throws what is against it. */
export function planSets({ pool, wanted, now, gate, dryRun }: PlanRequest): { plan: PinPlan; sets: NewSet[] } {
  const { source, name, images, sizes } = wanted;
  const sets = newSets({ name, images, labels: labelsMatching(pool), present: now.sets });
  checkRoom(pool, sets);
  const pools = now.fleet.pools.filter((each) => sets.some(({ object }) => takesSet(each, object)));
  const bytes = sizes === null ? null : bytesOf(sizes.values());
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
    nodes: fitsOf(pools, wanted, sets, now),
    notes: notesOf(gate, leftOver({ name, images, present: now.sets })),
    dryRun,
    written: false,
  };
  return { plan, sets };
}

function checkRoom({ metadata, spec }: MachineConfigPool, sets: readonly NewSet[]): void {
  const names = new Set((spec.pinnedImageSets ?? []).map(({ name }) => name));
  for (const { object } of sets) names.add(object.metadata.name);
  if (names.size <= MOST_SETS) return;
  throw new CommandError(
    'SLW_CLI_PIN_POOL',
    `MachineConfigPool ${metadata.name}: expected at most ${MOST_SETS} PinnedImageSets, found that it would have ${names.size}. Delete sets that are of no use any more: slipway pin status ${metadata.name} lists them`,
  );
}

function fitsOf(
  pools: readonly MachineConfigPool[],
  { sizes }: WantedImages,
  sets: readonly NewSet[],
  { fleet, sets: present }: PinsNow,
): NodeFit[] {
  const names = new Set(sets.map(({ object }) => object.metadata.name));
  return fleet.nodes
    .filter((node) => pools.some((pool) => isMember(node, pool)))
    .map(({ metadata: { name: node } }) => {
      const record = fleet.machineConfigNodes.get(node);
      const held = heldSets(pinNodeOf(node, record), present).flatMap(({ spec }) => spec.pinnedImages);
      return nodeFit({
        node,
        progress: progressOf(record),
        wanted: sizes,
        held: new Set(held.map((image) => image.name)),
        sets: names,
      });
    });
}

const heldSets = (node: PinNode, present: PinsNow['sets']): Stored<PinnedImageSet>[] =>
  [...present.values()].filter(({ metadata: { name, uid, generation = 1 } }) => holds(node, { name, uid, generation }));

function notesOf(gate: GateFinding | null, left: readonly string[]): string[] {
  return [
    ...(gate?.isOn === false
      ? [
          `The feature gate PinnedImages is off (${gate.because}): sets can be made, but no machine pulls anything until it is on.`,
        ]
      : []),
    ...(left.length === 0
      ? []
      : [
          `${left.join(', ')} ${left.length === 1 ? 'is' : 'are'} left of a longer list of this name, and stays pinned. To let go of it: kubectl delete pinnedimageset ${left.join(' ')}`,
        ]),
  ];
}
