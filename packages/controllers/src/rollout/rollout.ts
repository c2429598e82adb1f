// Brings the machines of a pool to its config, a few at a time. What happens is decided by `decidePool`; this reads what it
// is decided on, writes what comes of it, and keeps the pool's status.
import {
  machineConfigPools,
  machineConfigs,
  machineConfigurations,
  nodes,
  poolLabel,
  rolloutRequestAnnotation,
} from '@slipway/api';
import type { MachineConfigPool } from '@slipway/api';
import {
  answerRequest,
  decidePool,
  isControlPlanePool,
  poolFactsOf,
  poolPinsOf,
  poolStatusOf,
  type RolloutDecision,
  stoppedBy,
} from '@slipway/fleet';
import {
  again,
  type Context,
  type ControllerDef,
  done,
  type Gates,
  type Metrics,
  type Next,
  type Read,
  type Stored,
} from '@slipway/kube';
import { fleetNodes } from '../fleet-nodes.ts';
import { listenToGates, usesStreams } from '../os-streams/gate.ts';
import { poolStreamInput } from '../os-streams/pool-stream-input.ts';
import { everyPool, osImageStreamSource } from '../os-streams/stream-reads.ts';
import { pinsImages, pinSummaryOf } from '../pinned-images/gate.ts';
import { renderedMachineConfigs } from '../render/sources.ts';
import { createFleetViews, type FleetView } from './fleet-view.ts';
import { createFreshness, type Freshness } from '../freshness.ts';
import { GIVE_AT_ONCE, giveTargets } from './give-targets.ts';
import { decisionPatch, requestPatch } from './pool-patch.ts';
import { createRolloutMetrics, type RolloutMetrics } from './rollout-metrics.ts';
import { tellOfDecision } from './tell.ts';
import { createStatusWriter, renderProblemOf, type StatusWriter } from './write-status.ts';

export interface RolloutOptions {
  /** The node that this program runs on: the last one to change. */
  readonly ownNode?: string | undefined;
  readonly metrics?: Pick<Metrics, 'registry'> | undefined;
  /** With OSStreams on, the status says which stream a pool is on; with PinnedImages, how far its images are. Left out: they are off. */
  readonly gates?: Gates | undefined;
}

type Pool = Stored<MachineConfigPool>;

const fieldManager = 'slipway-rollout';
const CLUSTER = 'cluster';
/** The watch brings what we wrote a moment later, and with it this pool. */
const BEHIND_MS = 500;
/**
 * A decision looks at every machine, and while a thousand of them change there are hundreds of changes a second: several are
 * answered at once. A small fleet does not notice.
 */
const MOST_BETWEEN_RUNS_MS = 500;
const betweenRuns = (machines: number): number => Math.min(MOST_BETWEEN_RUNS_MS, Math.floor(machines / 2));

export function rolloutController({ ownNode, metrics, gates }: RolloutOptions = {}): ControllerDef {
  const views = createFleetViews();
  const fresh = createFreshness();
  const measured = metrics === undefined ? undefined : createRolloutMetrics(metrics);
  const lastRuns = new Map<string, number>();
  const status = createStatusWriter((pool) => fresh.wrote(machineConfigPools.kind, pool));
  return {
    name: 'rollout',
    reads: [
      {
        resource: machineConfigPools,
        // A pool that comes, goes or selects others takes nodes from the others, or leaves them to them.
        keysOf: ({ metadata }, read) => (views.hasMoved(read) ? [...poolNames(read), metadata.name] : [metadata.name]),
      },
      {
        ...fleetNodes,
        keysOf: (node, read) => {
          const pool = views.poolOf(node, read);
          if (pool === undefined) return [];
          // Masters and arbiters hold etcd together: one that is back makes room for one of the other pool.
          return isControlPlanePool(pool) ? poolNames(read).filter(isControlPlanePool) : [pool];
        },
      },
      {
        resource: machineConfigurations,
        fieldSelector: `metadata.name=${CLUSTER}`,
        keysOf: (_, read) => poolNames(read),
      },
      {
        ...renderedMachineConfigs,
        // One that is there may be told later which stream it is of.
        keysOf: ({ metadata }) => (usesStreams(gates) ? [metadata.labels?.[poolLabel] ?? ''] : []),
      },
      ...(gates === undefined ? [] : [{ ...osImageStreamSource, keysOf: everyPool }]),
    ],
    owns: [
      { resource: machineConfigPools },
      { resource: machineConfigPools, subresource: 'status' },
      { resource: nodes },
    ],
    ...listenToGates(gates, () => lastRuns.keys()),
    async reconcile(name, context) {
      const { read, now } = context;
      const pool = read(machineConfigPools).get(name);
      const wait = (lastRuns.get(name) ?? 0) + betweenRuns(read(nodes).size) - now().getTime();
      if (wait > 0 && pool !== undefined) return again(wait);
      lastRuns.set(name, now().getTime());
      const view = views.view(read);
      measured?.homeless(view.homeless().map(({ node }) => node.metadata));
      if (pool === undefined || pool.metadata.deletionTimestamp !== undefined) {
        status.forget(name);
        lastRuns.delete(name);
        measured?.forget(name);
        return done();
      }
      if (isBehind(fresh, context)) return again(BEHIND_MS);
      return step(pool, view, { context, fresh, measured, status, ownNode: ownNode ?? null, gates });
    },
  };
}

interface Parts {
  readonly context: Context;
  readonly fresh: Freshness;
  readonly measured: RolloutMetrics | undefined;
  readonly status: StatusWriter;
  readonly ownNode: string | null;
  readonly gates: Gates | undefined;
}

const isBehind = (fresh: Freshness, { read }: Context): boolean =>
  fresh.isBehind(nodes.kind, read(nodes)) || fresh.isBehind(machineConfigPools.kind, read(machineConfigPools));

async function step(pool: Pool, view: FleetView, parts: Parts): Promise<Next> {
  const { context, measured } = parts;
  const members = view.membersOf(pool.metadata.name);
  const { pool: facts, history, problems } = poolFactsOf(pool);
  const request = pool.metadata.annotations?.[rolloutRequestAnnotation];
  const now = context.now().getTime();
  if (request !== undefined) {
    const answered = answerRequest(request, {
      pool: facts,
      nodes: members.map((member) => member.facts),
      history,
      knownConfigs: configsOf(pool, context),
      now,
    });
    context.log.info({ request, answer: answered.state?.answer }, 'answered a request');
    // The pool's change brings it back here.
    await patchPool(pool, requestPatch(pool, history, answered), parts);
    return done();
  }
  const decision = decidePool({
    now,
    pool: facts,
    members: new Map(poolNames(context.read).map((each) => [each, view.membersOf(each).map((member) => member.facts)])),
    stopped: stoppedBy(context.read(machineConfigurations).get(CLUSTER)),
    ownNode: parts.ownNode,
  });
  const patch = decisionPatch(pool, history, decision);
  if (patch !== null) {
    await patchPool(pool, patch, parts);
    tellOfDecision(pool, facts.state, decision, context);
    return done();
  }
  await giveTargets(decision.give, members, parts.fresh, context);
  const status = poolStatusOf({
    generation: pool.metadata.generation ?? 0,
    decision,
    pool: facts,
    nodes: members.map((member) => member.facts),
    renderProblem: renderProblemOf(pool),
    source: pool.spec.configuration,
    previous: pool.status?.configuration,
    problems,
    osStream: usesStreams(parts.gates) ? poolStreamInput(pool, context.read) : undefined,
    pins: pinsImages(parts.gates) ? poolPinsOf(pinSummaryOf(pool)) : undefined,
  });
  measured?.observe(pool.metadata.name, status);
  return nextLook(decision, await parts.status.write(pool, status, context), now);
}

function nextLook({ lookAgainAt, give }: RolloutDecision, waitForStatus: number | null, now: number): Next {
  const waits = [
    ...(lookAgainAt === null ? [] : [Math.max(0, lookAgainAt - now)]),
    ...(waitForStatus === null ? [] : [waitForStatus]),
    ...(give.length > GIVE_AT_ONCE ? [BEHIND_MS] : []),
  ];
  return waits.length === 0 ? done() : again(Math.min(...waits));
}

async function patchPool(pool: Pool, annotations: object, { context, fresh }: Parts): Promise<void> {
  const { uid, resourceVersion } = pool.metadata;
  const patch = { type: 'merge', body: { metadata: { annotations } } } as const;
  const written = await context.client.patch(
    machineConfigPools,
    pool.metadata,
    patch,
    { uid, resourceVersion },
    { fieldManager },
  );
  fresh.wrote(machineConfigPools.kind, written);
}

const configsOf = (pool: Pool, { read }: Context): ReadonlySet<string> =>
  new Set(
    [...read(machineConfigs).values()]
      .filter(({ metadata }) => metadata.labels?.[poolLabel] === pool.metadata.name)
      .map(({ metadata }) => metadata.name),
  );

const poolNames = (read: Read): string[] => [...read(machineConfigPools).values()].map(({ metadata }) => metadata.name);
