// Rolls a pool's config out to its machines, a few at a time. `decidePool` decides; this reads its input, writes the
// result, and maintains the pool's status.
import {
  type MachineConfigPool,
  machineConfigPools,
  machineConfigs,
  machineConfigurations,
  nodes,
  poolLabel,
  rolloutRequestAnnotation,
  SINGLETON_NAME,
} from '@slipway/api';
import {
  answerRequest,
  decidePool,
  isControlPlanePool,
  readPinSummary,
  readPoolFacts,
  buildPoolPins,
  computePoolStatus,
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
  type Stored,
} from '@slipway/kube';
import { OS_STREAMS_GATE, PINNED_IMAGES_GATE, pinsImages, usesStreams } from '../feature-gates.ts';
import { computeRunInterval, createFleetViews, type FleetView } from '../fleet-index.ts';
import {
  everyPool,
  fleetNodes,
  osImageStreamSource,
  listPoolNames,
  readPoolStreamInput,
  renderedMachineConfigs,
} from '../sources.ts';
import {
  type AnnotationPatch,
  buildDecisionPatch,
  MAX_ASSIGNMENTS_PER_RUN,
  assignTargets,
  buildRequestPatch,
} from './assign-targets.ts';
import { createRolloutMetrics, type RolloutMetrics } from './metrics.ts';
import { createPoolMemory, type PoolMemory } from './pool-memory.ts';
import { readRenderProblem, recordDecisionEvents, writeStatus } from './write-status.ts';

export interface RolloutOptions {
  /** The node that this process runs on: updated last. */
  readonly ownNode?: string | undefined;
  readonly metrics?: Pick<Metrics, 'registry'> | undefined;
  /**
   * With OSStreams on, the status reports the pool's stream; with PinnedImages, its images. Undefined: both are off.
   */
  readonly gates?: Gates | undefined;
}

type Pool = Stored<MachineConfigPool>;

/** The watch event of an assignment triggers the next batch. This covers nodes that changed in between. */
const REMAINING_REQUEUE_MS = 500;
export function rolloutController({ ownNode, metrics, gates }: RolloutOptions = {}): ControllerDef {
  const views = createFleetViews();
  const memory = createPoolMemory();
  const measured = metrics === undefined ? undefined : createRolloutMetrics(metrics);
  return {
    name: 'rollout',
    reads: [
      {
        resource: machineConfigPools,
        // A new, deleted or changed pool moves nodes to or from other pools.
        keysOf: ({ metadata }, read) =>
          views.hasMoved(read) ? [...listPoolNames(read), metadata.name] : [metadata.name],
      },
      {
        ...fleetNodes,
        keysOf: (node, read) => {
          const pool = views.poolOf(node, read);
          // A node without a pool is counted by the run of any pool.
          if (pool === undefined) return listPoolNames(read).slice(0, 1);
          // Masters and arbiters share etcd: one that is available again frees a slot for a node of the other pool.
          return isControlPlanePool(pool) ? listPoolNames(read).filter(isControlPlanePool) : [pool];
        },
      },
      {
        resource: machineConfigurations,
        fieldSelector: `metadata.name=${SINGLETON_NAME}`,
        keysOf: (_, read) => listPoolNames(read),
      },
      {
        ...renderedMachineConfigs,
        // An existing config may get its stream annotation later.
        keysOf: ({ metadata }) => (usesStreams(gates) ? [metadata.labels?.[poolLabel] ?? ''] : []),
      },
      ...(gates === undefined ? [] : [{ ...osImageStreamSource, keysOf: everyPool }]),
    ],
    owns: [
      { resource: machineConfigPools },
      { resource: machineConfigPools, subresource: 'status' },
      { resource: nodes },
    ],
    dependsOnGates: [OS_STREAMS_GATE, PINNED_IMAGES_GATE],
    // A decision on stale state could make a second machine unavailable for one slot.
    waitsForWritesOf: 'all',
    minIntervalMs: computeRunInterval,
    // A process that no longer leads must not report on pools, and what it remembers becomes outdated.
    listen: () => () => {
      measured?.reset();
      memory.forgetAll();
    },
    async reconcile(name, context) {
      const { read } = context;
      const pool = read(machineConfigPools).get(name);
      const view = views.view(read);
      measured?.homeless(view.homeless().map(({ node }) => node.metadata));
      if (pool === undefined || pool.metadata.deletionTimestamp !== undefined) {
        measured?.forget(name);
        memory.forget(name);
        return done();
      }
      return reconcilePool(pool, view, { context, measured, memory, ownNode: ownNode ?? null, gates });
    },
  };
}

interface RolloutDeps {
  readonly context: Context;
  readonly measured: RolloutMetrics | undefined;
  readonly memory: PoolMemory;
  readonly ownNode: string | null;
  readonly gates: Gates | undefined;
}

async function reconcilePool(pool: Pool, view: FleetView, parts: RolloutDeps): Promise<Next> {
  const { context, measured, memory } = parts;
  const members = view.membersOf(pool.metadata.name);
  const whole = memory.restore(pool);
  const { pool: facts, history, problems } = readPoolFacts(whole);
  const request = pool.metadata.annotations?.[rolloutRequestAnnotation];
  const now = context.now().getTime();
  if (request !== undefined) {
    const answered = answerRequest(request, {
      pool: facts,
      nodes: members.map((member) => member.facts),
      history,
      knownConfigs: listRenderedConfigNames(pool, context),
      now,
    });
    context.log.info({ request, answer: answered.state?.answer }, 'answered a rollout request');
    // The change of the pool triggers the next reconcile.
    memory.noteWrite(await patchAnnotations(pool, buildRequestPatch(pool, history, answered), context));
    return done();
  }
  const decision = decidePool({
    now,
    pool: facts,
    members: new Map(
      listPoolNames(context.read).map((each) => [each, view.membersOf(each).map((member) => member.facts)]),
    ),
    stopped: stoppedBy(context.read(machineConfigurations).get(SINGLETON_NAME)),
    ownNode: parts.ownNode,
  });
  const patch = buildDecisionPatch(pool, history, decision);
  if (patch !== null) {
    memory.noteWrite(await patchAnnotations(pool, patch, context));
    recordDecisionEvents(pool, facts.state, decision, context);
    return done();
  }
  await assignTargets(decision.give, members, context);
  const machines = members.map((member) => member.facts);
  const status = computePoolStatus({
    generation: pool.metadata.generation ?? 0,
    decision,
    pool: facts,
    nodes: machines,
    renderProblem: readRenderProblem(pool),
    source: whole.spec.configuration,
    previous: pool.status?.configuration,
    problems,
    osStream: usesStreams(parts.gates) ? readPoolStreamInput(pool, context.read) : undefined,
    pins: pinsImages(parts.gates) ? buildPoolPins(readPinSummary(pool)) : undefined,
  });
  measured?.observe(pool.metadata.name, status, machines);
  await writeStatus(pool, status, context);
  return decideRequeue(decision, now);
}

function decideRequeue({ lookAgainAt, give }: RolloutDecision, now: number): Next {
  const waits = [
    ...(lookAgainAt === null ? [] : [Math.max(0, lookAgainAt - now)]),
    ...(give.length > MAX_ASSIGNMENTS_PER_RUN ? [REMAINING_REQUEUE_MS] : []),
  ];
  return waits.length === 0 ? done() : again(Math.min(...waits));
}

const patchAnnotations = (pool: Pool, annotations: AnnotationPatch, { write }: Context): Promise<Pool> =>
  write.patch(machineConfigPools, pool, { metadata: { annotations } });

const listRenderedConfigNames = (pool: Pool, { read }: Context): ReadonlySet<string> =>
  new Set(
    [...read(machineConfigs).values()]
      .filter(({ metadata }) => metadata.labels?.[poolLabel] === pool.metadata.name)
      .map(({ metadata }) => metadata.name),
  );
