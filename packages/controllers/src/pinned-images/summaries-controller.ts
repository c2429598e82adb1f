import { type MachineConfigPool, machineConfigPools, nodes, pinSummaryAnnotation } from '@slipway/api';
import { decodeSummary, encodeSummary, nextPoolSets, type PinSummary, summaryOf, tooManySets } from '@slipway/fleet';
import { again, type Context, type ControllerDef, done, type Metrics, type Stored } from '@slipway/kube';
import { pinnedImagesGate } from '../feature-gates.ts';
import { Gauge } from 'prom-client';
import { createPinViews, type PinView } from '../fleet-index.ts';
import { everyPool, fleetNodes, imageSets, pinRecords, setsIn } from '../sources.ts';
import { fieldManager } from './pool-sets-controller.ts';

export interface PinMetrics {
  /** Null: the pool has no sets. */
  observe(pool: string, summary: PinSummary | null): void;
}

function createPinMetrics({ registry }: Pick<Metrics, 'registry'>): PinMetrics {
  const machines = new Gauge({
    name: 'slipway_pinned_image_nodes',
    help: 'Machines of a pool that hold all its pinned images, that fail to, and that are on their way.',
    labelNames: ['pool', 'state'] as const,
    registers: [registry],
  });
  return {
    observe(pool, summary) {
      const { machines: all = 0, updated = 0, degraded = 0 } = summary ?? {};
      const states = { updated, degraded, progressing: all - updated - degraded };
      for (const [state, count] of Object.entries(states)) {
        if (summary === null) machines.remove({ pool, state });
        else machines.set({ pool, state }, count);
      }
    },
  };
}

// Sums up for each pool how far its machines are with their images. The rollout controller, which alone writes the status of a
// pool, takes it from there.

type Pool = Stored<MachineConfigPool>;

/** While machine after machine gets done. That something is wrong, or right again, is told at once. */
const BETWEEN_MS = 1000;
/** A set that was only just named may be on its way to us. */
const MISSING_AFTER_MS = 5000;
const betweenRuns = (machines: number): number => Math.min(500, Math.floor(machines / 2));

export function summariesController(metrics?: Pick<Metrics, 'registry'>): ControllerDef {
  const views = createPinViews();
  const memories: Memories = { lastRuns: new Map(), writtenAt: new Map(), missingSince: new Map() };
  const measured = metrics === undefined ? undefined : createPinMetrics(metrics);
  return {
    name: 'pin-summaries',
    gate: pinnedImagesGate,
    reads: [
      { resource: machineConfigPools },
      { ...imageSets, keysOf: everyPool },
      { ...fleetNodes, keysOf: (node, read) => views.poolsOf(node, read) },
      { ...pinRecords, keysOf: ({ metadata }, read) => views.poolsOf(read(nodes).get(metadata.name), read) },
    ],
    owns: [{ resource: machineConfigPools }],
    async reconcile(name, context) {
      const pool = context.read(machineConfigPools).get(name);
      if (pool === undefined || pool.metadata.deletionTimestamp !== undefined) {
        for (const memory of Object.values(memories)) memory.delete(name);
        measured?.observe(name, null);
        return done();
      }
      const now = context.now().getTime();
      const wait = (memories.lastRuns.get(name) ?? 0) + betweenRuns(context.read(nodes).size) - now;
      if (wait > 0) return again(wait);
      memories.lastRuns.set(name, now);
      const { view, waitMs } = withoutFresh(views.view(context.read), name, memories, now);
      const summary = summarise(pool, view, context);
      measured?.observe(name, summary);
      const waits = [waitMs, await write(pool, summary, memories, context)].filter((each) => each !== null);
      return waits.length === 0 ? done() : again(Math.min(...waits));
    },
  };
}

/** All of it only for pacing, so that it may be forgotten in a restart. By pool. */
interface Memories {
  readonly lastRuns: Map<string, number>;
  readonly writtenAt: Map<string, number>;
  readonly missingSince: Map<string, ReadonlyMap<string, number>>;
}

/** The view without sets that are missing only since a moment, and how long until they count as missing. */
function withoutFresh(
  view: PinView,
  name: string,
  { missingSince }: Memories,
  now: number,
): { view: PinView; waitMs: number | null } {
  const pool = view.pools.get(name);
  if (pool === undefined || pool.missing.length === 0) {
    missingSince.delete(name);
    return { view, waitMs: null };
  }
  const before = missingSince.get(name);
  const since = new Map(pool.missing.map((set) => [set, before?.get(set) ?? now]));
  missingSince.set(name, since);
  const waits = [...since.values()].map((at) => at + MISSING_AFTER_MS - now).filter((wait) => wait > 0);
  const missing = pool.missing.filter((set) => (since.get(set) ?? now) + MISSING_AFTER_MS <= now);
  const pools = new Map(view.pools).set(name, { ...pool, missing });
  return { view: { ...view, pools }, waitMs: waits.length === 0 ? null : Math.min(...waits) };
}

function summarise(pool: Pool, { pools, nodes: machines }: PinView, { read }: Context): PinSummary | null {
  const { name } = pool.metadata;
  const facts = pools.get(name);
  if (facts === undefined) return null;
  const tooMany = tooManySets(name, nextPoolSets(pool, setsIn(read)));
  return summaryOf(facts, machines, pools, tooMany === null ? [] : [tooMany]);
}

/** Milliseconds until it may be written; null: it says what is so. */
async function write(
  pool: Pool,
  summary: PinSummary | null,
  { writtenAt }: Memories,
  { client, now }: Context,
): Promise<number | null> {
  const { name, uid, resourceVersion, annotations = {} } = pool.metadata;
  const before = annotations[pinSummaryAnnotation];
  const next = summary === null ? null : encodeSummary(summary);
  if ((before ?? null) === next) return null;
  const wait = (writtenAt.get(name) ?? -Infinity) + BETWEEN_MS - now().getTime();
  if (wait > 0 && !isTurn(before === undefined ? null : decodeSummary(before), summary)) return wait;
  const patch = { type: 'merge', body: { metadata: { annotations: { [pinSummaryAnnotation]: next } } } } as const;
  await client.patch(machineConfigPools, pool.metadata, patch, { uid, resourceVersion }, { fieldManager });
  writtenAt.set(name, now().getTime());
  return null;
}

/** Whether a condition of the pool becomes true or false by it. */
const isTurn = (before: PinSummary | null, next: PinSummary | null): boolean =>
  standing(before).some((holds, index) => holds !== standing(next)[index]);

const standing = (summary: PinSummary | null): boolean[] => [
  (summary?.degraded ?? 0) + (summary?.problems.length ?? 0) > 0,
  (summary?.fullDisks ?? 0) > 0,
];
