// Tells every machine which sets of images to hold, and whether it may pull now: one annotation of its MachineConfigNode.
import { machineConfigNodes, machineConfigPools, nodes, pinAssignmentAnnotation } from '@slipway/api';
import { assignSets, encodeAssignment, type PinAssignment } from '@slipway/fleet';
import { again, type Context, type ControllerDef, done, isKubeError, type Read } from '@slipway/kube';
import { createPinViews, type PinView } from '../fleet-index.ts';
import { createFreshness, type Freshness } from '../freshness.ts';
import { createSettling } from '../render/settling.ts';
import { fleetNodes, imageSets, pinRecords } from '../sources.ts';
import { pinnedImagesGate } from './controllers.ts';
import { fieldManager } from './pool-sets-controller.ts';

const CLUSTER = 'cluster';
const BEHIND_MS = 500;
const WRITERS = 16;
/** So that a change of mind is seen soon, also where there are thousands to tell. */
const TELL_AT_ONCE = 200;
/** A decision looks at every machine: while hundreds of them report in a second, several reports are answered at once. */
const betweenRuns = (machines: number): number => Math.min(500, Math.floor(machines / 2));

const always = (): string[] => [CLUSTER];

/** All machines at once, because a limit of pulls is a matter of all of them. */
export function assignmentsController(): ControllerDef {
  const views = createPinViews();
  const fresh = createFreshness();
  const settling = createSettling();
  let lastRun = 0;
  return {
    name: 'pin-assignments',
    gate: pinnedImagesGate,
    reads: [
      { resource: machineConfigPools, keysOf: always },
      { ...imageSets, keysOf: always },
      { ...fleetNodes, keysOf: always },
      { ...pinRecords, keysOf: always },
    ],
    owns: [{ resource: machineConfigNodes }],
    startsWith: [CLUSTER],
    async reconcile(_, context) {
      const { read } = context;
      const now = context.now().getTime();
      const wait = lastRun + betweenRuns(read(nodes).size) - now;
      if (wait > 0) return again(wait);
      lastRun = now;
      const view = views.view(read);
      // Several sets that are made at once, as for a release, are told at once.
      const unsettled = settling.waitFor(CLUSTER, wishesOf(view), now);
      if (unsettled > 0) return again(unsettled);
      if (fresh.isBehind(machineConfigNodes.kind, read(machineConfigNodes))) return again(BEHIND_MS);
      const known = view.nodes.filter(({ name }) => read(machineConfigNodes).get(name) !== undefined);
      const { changed, lookAgainAt } = assignSets(known, view.pools, now);
      const isLeft = await tell(changed, fresh, context);
      if (isLeft) return again(BEHIND_MS);
      return lookAgainAt === null ? done() : again(Math.max(0, lookAgainAt - now));
    },
  };
}

const wishesOf = ({ pools }: PinView): string[] =>
  [...pools.values()].map(({ name, sets, maxPulling }) => JSON.stringify([name, sets, maxPulling]));

/** Whether there is somebody left who was not told. */
async function tell(changed: ReadonlyMap<string, PinAssignment>, fresh: Freshness, context: Context): Promise<boolean> {
  // Turns that end are told before turns that begin.
  const queue = [...changed].sort(([, a], [, b]) => Number(a.mayPull) - Number(b.mayPull)).slice(0, TELL_AT_ONCE);
  let missed = changed.size - queue.length;
  async function work(): Promise<void> {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      try {
        if (!(await tellOne(next[0], next[1], fresh, context))) missed += 1;
      } catch (error) {
        queue.length = 0;
        throw error;
      }
    }
  }
  const ended = await Promise.allSettled(Array.from({ length: Math.min(WRITERS, queue.length) }, work));
  const problem = ended.find((result) => result.status === 'rejected');
  if (problem !== undefined) throw problem.reason;
  if (changed.size > 0) context.log.info({ nodes: changed.size - missed }, 'machines were told which images to pin');
  return missed > 0;
}

/** False: its daemon wrote meanwhile, or it is gone. What is decided on what it said before is not written. */
async function tellOne(
  name: string,
  assignment: PinAssignment,
  fresh: Freshness,
  { client, read }: { client: Context['client']; read: Read },
): Promise<boolean> {
  const record = read(machineConfigNodes).get(name);
  if (record === undefined) return false;
  const { uid, resourceVersion } = record.metadata;
  const annotations = { [pinAssignmentAnnotation]: encodeAssignment(assignment) };
  const patch = { type: 'merge', body: { metadata: { annotations } } } as const;
  try {
    const written = await client.patch(
      machineConfigNodes,
      record.metadata,
      patch,
      { uid, resourceVersion },
      { fieldManager },
    );
    fresh.wrote(machineConfigNodes.kind, written);
    return true;
  } catch (error) {
    if (isKubeError(error, 'SLW_KUBE_CONFLICT', 'SLW_KUBE_NOT_FOUND')) return false;
    throw error;
  }
}
