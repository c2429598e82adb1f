import {
  addedImageSetsAnnotation,
  type MachineConfigNode,
  machineConfigNodes,
  type MachineConfigPool,
  machineConfigPools,
  pinAssignmentAnnotation,
  pinSummaryAnnotation,
} from '@slipway/api';
import { nextPoolSets } from '@slipway/fleet';
import {
  again,
  type Context,
  type ControllerDef,
  done,
  type Gates,
  isKubeError,
  type Metrics,
  type Stored,
} from '@slipway/kube';
import { listenToGates, pinsImages } from '../feature-gates.ts';
import { assignmentsController } from './assignments-controller.ts';
import { fieldManager, keepSets, poolSetsController } from './pool-sets-controller.ts';
import { summariesController } from './summaries-controller.ts';

// What pinned images leave behind when their feature gate is turned off goes: what machines were told, so that they let their
// images go, and what is written on pools. What a person put into a pool stays.

const CLUSTER = 'cluster';
/** A controller that is being stopped may still write for so long. */
const LAST_WRITES_MS = 30_000;
const AGAIN_MS = 1000;
const once = (): string[] => [CLUSTER];

function turnedOffController(gates: Gates): ControllerDef {
  /** Since the gate was turned off, or this process began: when machines are looked at once more. Infinity: they were. */
  let lookAt = 0;
  return {
    name: 'pinned-images-turned-off',
    reads: [{ resource: machineConfigPools, keysOf: once }],
    owns: [{ resource: machineConfigPools }, { resource: machineConfigNodes }],
    startsWith: [CLUSTER],
    ...listenToGates(gates, once),
    async reconcile(_, context) {
      if (pinsImages(gates)) {
        lookAt = 0;
        return done();
      }
      const pools = [...context.read(machineConfigPools).values()];
      const now = context.now().getTime();
      // Machines are told something also where no pool has sets: once they are looked at whatever pools say.
      const isUsed = pools.some(isMarked) || now >= lookAt;
      // One that its daemon has just written to is tried again.
      if (isUsed && !(await forgetMachines(context))) return again(AGAIN_MS);
      // Pools last: while they say that images were pinned, the machines are looked at again after a crash.
      for (const pool of pools) await forgetPool(pool, context);
      if (now >= lookAt) lookAt = lookAt === 0 ? now + LAST_WRITES_MS : Infinity;
      return lookAt === Infinity ? done() : again(lookAt - now);
    },
  };
}

const marks = [pinSummaryAnnotation, addedImageSetsAnnotation] as const;
const isMarked = ({ metadata }: MachineConfigPool): boolean =>
  marks.some((key) => metadata.annotations?.[key] !== undefined);

/** Listed once and not watched: with the gate off there is nothing to be seen of them. Whether none is left. */
async function forgetMachines(context: Context): Promise<boolean> {
  const { client, signal, log } = context;
  let [count, missed] = [0, 0];
  for await (const record of client.list(machineConfigNodes, { signal })) {
    if (record.metadata.annotations?.[pinAssignmentAnnotation] === undefined) continue;
    if (await forgetMachine(record, context)) count += 1;
    else missed += 1;
  }
  if (count > 0) log.info({ nodes: count }, 'the feature gate PinnedImages is off: machines let their images go');
  return missed === 0;
}

async function forgetMachine({ metadata }: Stored<MachineConfigNode>, { client }: Context): Promise<boolean> {
  const patch = { type: 'merge', body: { metadata: { annotations: { [pinAssignmentAnnotation]: null } } } } as const;
  const { uid, resourceVersion } = metadata;
  try {
    await client.patch(machineConfigNodes, metadata, patch, { uid, resourceVersion }, { fieldManager });
    return true;
  } catch (error) {
    if (isKubeError(error, 'SLW_KUBE_CONFLICT')) return false;
    if (isKubeError(error, 'SLW_KUBE_NOT_FOUND')) return true;
    throw error;
  }
}

async function forgetPool(pool: Stored<MachineConfigPool>, context: Context): Promise<void> {
  if (pool.metadata.annotations?.[addedImageSetsAnnotation] !== undefined) {
    // Its change brings this back here, for the rest.
    await keepSets(pool, nextPoolSets(pool, []), context);
    return;
  }
  if (pool.metadata.annotations?.[pinSummaryAnnotation] === undefined) return;
  const { uid, resourceVersion } = pool.metadata;
  const patch = { type: 'merge', body: { metadata: { annotations: { [pinSummaryAnnotation]: null } } } } as const;
  await context.client.patch(machineConfigPools, pool.metadata, patch, { uid, resourceVersion }, { fieldManager });
}

export interface PinnedImagesOptions {
  /** The same as the manager has: what pinned images have left behind goes when their gate is turned off. */
  readonly gates: Gates;
  readonly metrics?: Pick<Metrics, 'registry'> | undefined;
}

/** All that has to do with pinned images in the cluster. The daemons follow what these write, and rollout tells of it. */
export const pinnedImagesControllers = ({ gates, metrics }: PinnedImagesOptions): ControllerDef[] => [
  poolSetsController,
  assignmentsController(),
  summariesController(metrics),
  turnedOffController(gates),
];
