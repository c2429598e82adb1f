// Tells every machine which sets of images to hold, and whether it may pull now: one annotation of its MachineConfigNode.
import { machineConfigNodes, machineConfigPools, nodes, pinAssignmentAnnotation, SINGLETON_NAME } from '@slipway/api';
import { forEachLimit } from '@slipway/base/concurrency';
import { assignSets, encodeAssignment, type PinAssignment } from '@slipway/fleet';
import { again, type Context, type ControllerDef, done, type Gate, isKubeError, type Metrics } from '@slipway/kube';
import { PINNED_IMAGES_GATE } from '../feature-gates.ts';
import { createPinViews } from '../fleet-index.ts';
import { fleetNodes, imageSets, pinRecords } from '../sources.ts';
import { computeRunInterval, FIELD_MANAGER, poolSetsController } from './pool-sets-controller.ts';
import { summariesController } from './summaries-controller.ts';

export interface PinnedImagesOptions {
  readonly metrics?: Pick<Metrics, 'registry'> | undefined;
}

/**
 * All that has to do with pinned images in the cluster. The daemons follow what these write, and rollout tells of it. Each takes
 * back what it wrote when the feature gate is turned off; what a person put into a pool stays.
 */
export const pinnedImagesControllers = ({ metrics }: PinnedImagesOptions = {}): ControllerDef[] => [
  poolSetsController,
  assignmentsController(),
  summariesController(metrics),
];

/** Those that are left are told when those that were told are seen; this is for one whose daemon wrote in between. */
const REMAINING_REQUEUE_MS = 500;
/** Short enough that a single set is not felt to wait, long enough for the next one of several to come. */
const SETTLE_MS = 250;
const WRITERS = 16;
/** So that a change of mind is seen soon, also where there are thousands to tell. */
const MAX_ASSIGNMENTS_PER_RUN = 200;

const always = (): string[] => [SINGLETON_NAME];

/** All machines at once, because a limit of pulls is a matter of all of them. */
function assignmentsController(): ControllerDef {
  const views = createPinViews();
  return {
    name: 'pin-assignments',
    gate: { name: PINNED_IMAGES_GATE, whenOff: withdrawAssignments },
    fieldManager: FIELD_MANAGER,
    reads: [
      { resource: machineConfigPools, keysOf: always, settles: false },
      // Several sets that are made at once, as for a release, are told at once.
      { ...imageSets, keysOf: always },
      { ...fleetNodes, keysOf: always, settles: false },
      { ...pinRecords, keysOf: always, settles: false },
    ],
    owns: [{ resource: machineConfigNodes }],
    startsWith: [SINGLETON_NAME],
    settleMs: SETTLE_MS,
    minIntervalMs: (_, read) => computeRunInterval(read(nodes).size),
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

/** So that machines let their images go. */
const withdrawAssignments: Gate['whenOff'] = async ({ client, write, signal, log }) => {
  let count = 0;
  let conflict: unknown;
  for await (const record of client.list(machineConfigNodes, { signal })) {
    if (record.metadata.annotations?.[pinAssignmentAnnotation] === undefined) continue;
    try {
      await write.patch(machineConfigNodes, record, { metadata: { annotations: { [pinAssignmentAnnotation]: null } } });
      count += 1;
    } catch (error) {
      // One that its daemon has just written to shall not keep the others waiting.
      if (isKubeError(error, 'SLW_KUBE_CONFLICT')) conflict = error;
      else if (!isKubeError(error, 'SLW_KUBE_NOT_FOUND')) throw error;
    }
  }
  if (count > 0) log.info({ nodes: count }, 'the feature gate PinnedImages is off: machines let their images go');
  if (conflict !== undefined) throw conflict;
};

/** Whether there is somebody left who was not told. */
async function publishAssignments(changed: ReadonlyMap<string, PinAssignment>, context: Context): Promise<boolean> {
  // Turns that end are told before turns that begin.
  const next = [...changed]
    .sort(([, a], [, b]) => Number(a.mayPull) - Number(b.mayPull))
    .slice(0, MAX_ASSIGNMENTS_PER_RUN);
  let missed = changed.size - next.length;
  await forEachLimit(next, WRITERS, async ([name, assignment]) => {
    if (!(await publishAssignment(name, assignment, context))) missed += 1;
  });
  if (changed.size > 0) context.log.info({ nodes: changed.size - missed }, 'machines were told which images to pin');
  return missed > 0;
}

/** False: its daemon wrote meanwhile, or it is gone. What is decided on what it said before is not written. */
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
