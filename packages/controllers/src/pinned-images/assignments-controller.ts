// Assigns each machine its PinnedImageSets, and whether it may pull now: one annotation of its MachineConfigNode.
import { machineConfigNodes, machineConfigPools, pinAssignmentAnnotation, SINGLETON_NAME } from '@slipway/api';
import { forEachLimit } from '@slipway/base/concurrency';
import { assignSets, encodeAssignment, type PinAssignment } from '@slipway/fleet';
import { again, type Context, type ControllerDef, done, type Gate, isKubeError, type Metrics } from '@slipway/kube';
import { PINNED_IMAGES_GATE } from '../feature-gates.ts';
import { computeRunInterval, createPinViews } from '../fleet-index.ts';
import { fleetNodes, imageSets, pinRecords } from '../sources.ts';
import { FIELD_MANAGER, poolSetsController } from './pool-sets-controller.ts';
import { summariesController } from './summaries-controller.ts';

export interface PinnedImagesOptions {
  readonly metrics?: Pick<Metrics, 'registry'> | undefined;
}

/**
 * All cluster-side controllers of pinned images. The daemons follow what these write, and rollout reports it. Each
 * removes what it wrote when the feature gate is turned off; sets that a user added to a pool stay.
 */
export const pinnedImagesControllers = ({ metrics }: PinnedImagesOptions = {}): ControllerDef[] => [
  poolSetsController,
  assignmentsController(),
  summariesController(metrics),
];

/** The watch event of an assignment triggers the next batch. This covers machines whose daemon wrote in between. */
const REMAINING_REQUEUE_MS = 500;
/** Short enough that a single set is not delayed noticeably, long enough to collect several. */
const SETTLE_MS = 250;
const WRITERS = 16;
/** A small batch, so that a later change takes effect soon, even with thousands of machines. */
const MAX_ASSIGNMENTS_PER_RUN = 200;

const always = (): string[] => [SINGLETON_NAME];

/** Reconciles all machines together, because the limit on concurrent pulls covers all of them. */
function assignmentsController(): ControllerDef {
  const views = createPinViews();
  return {
    name: 'pin-assignments',
    gate: { name: PINNED_IMAGES_GATE, whenOff: withdrawAssignments },
    fieldManager: FIELD_MANAGER,
    reads: [
      { resource: machineConfigPools, keysOf: always, settles: false },
      // Sets that are created together, as for a release, are assigned together.
      { ...imageSets, keysOf: always },
      { ...fleetNodes, keysOf: always, settles: false },
      { ...pinRecords, keysOf: always, settles: false },
    ],
    owns: [{ resource: machineConfigNodes }],
    startsWith: [SINGLETON_NAME],
    settleMs: SETTLE_MS,
    minIntervalMs: computeRunInterval,
    async reconcile(_, context) {
      const { read } = context;
      const now = context.now().getTime();
      const view = views.view(read);
      const known = view.nodes.filter(({ name }) => read(machineConfigNodes).get(name) !== undefined);
      const { changed, lookAgainAt } = assignSets(known, view.pools, now);
      const isLeft = await publishAssignments(changed, context);
      if (isLeft) return again(REMAINING_REQUEUE_MS);
      return lookAgainAt === null ? done() : again(Math.max(0, lookAgainAt - now));
    },
  };
}

/** Makes machines release their images. */
const withdrawAssignments: Gate['whenOff'] = async ({ client, write, signal, log }) => {
  let count = 0;
  let conflict: unknown;
  for await (const record of client.list(machineConfigNodes, { signal })) {
    if (record.metadata.annotations?.[pinAssignmentAnnotation] === undefined) continue;
    try {
      await write.patch(machineConfigNodes, record, { metadata: { annotations: { [pinAssignmentAnnotation]: null } } });
      count += 1;
    } catch (error) {
      // A conflict with one daemon must not delay the others.
      if (isKubeError(error, 'SLW_KUBE_CONFLICT')) conflict = error;
      else if (!isKubeError(error, 'SLW_KUBE_NOT_FOUND')) throw error;
    }
  }
  if (count > 0)
    log.info(
      { nodes: count },
      'the feature gate PinnedImages is off: removed the assignments, so that machines release their images',
    );
  if (conflict !== undefined) throw conflict;
};

/** Returns whether any machine is left without its assignment. */
async function publishAssignments(changed: ReadonlyMap<string, PinAssignment>, context: Context): Promise<boolean> {
  // Finished pulls give up their slot before new ones get one.
  const next = [...changed]
    .sort(([, a], [, b]) => Number(a.mayPull) - Number(b.mayPull))
    .slice(0, MAX_ASSIGNMENTS_PER_RUN);
  let missed = changed.size - next.length;
  await forEachLimit(next, WRITERS, async ([name, assignment]) => {
    if (!(await publishAssignment(name, assignment, context))) missed += 1;
  });
  if (changed.size > 0) context.log.info({ nodes: changed.size - missed }, 'assigned pinned images to machines');
  return missed > 0;
}

/** False: the daemon wrote meanwhile, or the record is gone. A decision on stale facts is not written. */
async function publishAssignment(name: string, assignment: PinAssignment, { write, read }: Context): Promise<boolean> {
  const record = read(machineConfigNodes).get(name);
  if (record === undefined) return false;
  const annotations = { [pinAssignmentAnnotation]: encodeAssignment(assignment) };
  try {
    await write.patch(machineConfigNodes, record, { metadata: { annotations } });
    return true;
  } catch (error) {
    if (isKubeError(error, 'SLW_KUBE_CONFLICT', 'SLW_KUBE_NOT_FOUND')) return false;
    throw error;
  }
}
