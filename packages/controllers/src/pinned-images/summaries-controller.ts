// Summarizes for each pool how far its machines are with their images. The rollout controller, the only writer of a
// pool's status, reads the summary.
import { type MachineConfigPool, machineConfigPools, nodes, pinSummaryAnnotation } from '@slipway/api';
import {
  decodeSummary,
  encodeSummary,
  nextPoolSets,
  type PinSummary,
  summarizePins,
  tooManySets,
} from '@slipway/fleet';
import { again, type Context, type ControllerDef, done, type Gate, type Metrics, type Stored } from '@slipway/kube';
import { PINNED_IMAGES_GATE } from '../feature-gates.ts';
import { Gauge } from 'prom-client';
import { computeRunInterval, createPinViews, type PinView } from '../fleet-index.ts';
import { everyPool, fleetNodes, imageSets, pinRecords, listImageSets } from '../sources.ts';
import { FIELD_MANAGER } from './pool-sets-controller.ts';

type Pool = Stored<MachineConfigPool>;

/** Limits writes while machines finish one after another. New and resolved problems are written immediately. */
const MIN_SUMMARY_INTERVAL_MS = 1000;
/** A set that was referenced a moment ago may not be in the cache yet. */
const MISSING_AFTER_MS = 5000;

export function summariesController(metrics?: Pick<Metrics, 'registry'>): ControllerDef {
  const views = createPinViews();
  const missingSince: MissingSince = new Map();
  const measured = metrics === undefined ? undefined : createPinMetrics(metrics);
  return {
    name: 'pin-summaries',
    gate: { name: PINNED_IMAGES_GATE, whenOff: withdrawSummaries },
    fieldManager: FIELD_MANAGER,
    minIntervalMs: computeRunInterval,
    reads: [
      { resource: machineConfigPools },
      { ...imageSets, keysOf: everyPool },
      { ...fleetNodes, keysOf: (node, read) => views.poolsOf(node, read) },
      { ...pinRecords, keysOf: ({ metadata }, read) => views.poolsOf(read(nodes).get(metadata.name), read) },
    ],
    owns: [{ resource: machineConfigPools }],
    // A process that no longer leads must not report on pools.
    listen: () => () => measured?.reset(),
    async reconcile(name, context) {
      const pool = context.read(machineConfigPools).get(name);
      if (pool === undefined || pool.metadata.deletionTimestamp !== undefined) {
        missingSince.delete(name);
        measured?.observe(name, null);
        return done();
      }
      const now = context.now().getTime();
      const { view, waitMs } = withoutFresh(views.view(context.read), name, missingSince, now);
      const summary = summarise(pool, view, context);
      measured?.observe(name, summary);
      await writeSummary(pool, summary, context);
      return waitMs === null ? done() : again(waitMs);
    },
  };
}

const withdrawSummaries: Gate['whenOff'] = async ({ client, write, signal }) => {
  for await (const pool of client.list(machineConfigPools, { signal })) {
    if (pool.metadata.annotations?.[pinSummaryAnnotation] === undefined) continue;
    await write.patch(machineConfigPools, pool, { metadata: { annotations: { [pinSummaryAnnotation]: null } } });
  }
};

/** By pool and set. Only a delay, so a restart may lose it. */
type MissingSince = Map<string, ReadonlyMap<string, number>>;

/** The view without sets that went missing a moment ago, and the time until they count as missing. */
function withoutFresh(
  view: PinView,
  name: string,
  missingSince: MissingSince,
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
  const tooMany = tooManySets(name, nextPoolSets(pool, listImageSets(read)));
  return summarizePins(facts, machines, pools, tooMany === null ? [] : [tooMany]);
}

async function writeSummary(pool: Pool, summary: PinSummary | null, { write }: Context): Promise<void> {
  const before = pool.metadata.annotations?.[pinSummaryAnnotation];
  const next = summary === null ? null : encodeSummary(summary);
  if ((before ?? null) === next) return;
  const isUrgent = changesConditions(before === undefined ? null : decodeSummary(before), summary);
  const body = { metadata: { annotations: { [pinSummaryAnnotation]: next } } };
  await write.patchThrottled(machineConfigPools, pool, body, { minIntervalMs: isUrgent ? 0 : MIN_SUMMARY_INTERVAL_MS });
}

/** Whether the summary changes a condition of the pool. */
const changesConditions = (before: PinSummary | null, next: PinSummary | null): boolean =>
  readConditionStates(before).some((holds, index) => holds !== readConditionStates(next)[index]);

const readConditionStates = (summary: PinSummary | null): boolean[] => [
  (summary?.degraded ?? 0) + (summary?.problems.length ?? 0) > 0,
  (summary?.fullDisks ?? 0) > 0,
];

export interface PinMetrics {
  /** Null: the pool has no sets. */
  observe(pool: string, summary: PinSummary | null): void;
  reset(): void;
}

function createPinMetrics({ registry }: Pick<Metrics, 'registry'>): PinMetrics {
  const machines = new Gauge({
    name: 'slipway_pinned_image_nodes',
    help: 'Machines of a pool by the state of their pinned images: updated, degraded or progressing.',
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
    reset: () => machines.reset(),
  };
}
