// Drains a node that requests it, as far as PodDisruptionBudgets allow, and uncordons it on request.
import { type Node, nodes, podDisruptionBudgets, pods } from '@slipway/api';
import {
  readDrainFacts,
  type DrainStep,
  findDownSince,
  isBeingDrained,
  isProtected,
  keepWhatDecides,
  nextDrainStep,
  protectedUntil,
  releaseNode,
} from '@slipway/fleet/drain';
import {
  again,
  type Context,
  type ControllerDef,
  done,
  isKubeError,
  type Metrics,
  type Next,
  type Stored,
} from '@slipway/kube';
import { fleetNodes } from '../sources.ts';
import { type CordonedNode, createDrainAttempts, emptyNode, type DrainAttempts } from './empty-node.ts';
import { createDrainMetrics } from './metrics.ts';
import { computeRetryDelay, HOUR } from './intervals.ts';
import { ownedForProtection, protectMachine, releaseAbandoned, releaseMachine } from './machine-protection.ts';
import {
  answerChange,
  cordonChange,
  disownChange,
  patchNode,
  protectChange,
  releaseChange,
  reportUnprotected,
  unblockChange,
  uncordonChange,
} from './patch-node.ts';

export interface DrainOptions {
  /** Where MachineHealthChecks of the Machine API are. */
  readonly machineApiNamespace?: string | undefined;
  readonly metrics?: Pick<Metrics, 'registry'> | undefined;
}

const DRAINING = 'draining';
/** Nodes reconciled concurrently: a run waits for the API server, but not for pods to terminate. */
const WORKERS = 32;
/** The key of nodes that were deleted during their update, perhaps while no controller ran, and may exist again. */
const ABANDONED = '*';

export function drainController({ metrics, machineApiNamespace }: DrainOptions = {}): ControllerDef {
  const attempts = createDrainAttempts(metrics === undefined ? undefined : createDrainMetrics(metrics));
  return {
    name: 'drain',
    reads: [
      { ...fleetNodes, indexes: { [DRAINING]: (node) => (isBeingDrained(readDrainFacts(node)) ? [DRAINING] : []) } },
      {
        resource: podDisruptionBudgets,
        project: keepWhatDecides,
        indexes: { namespace: ({ metadata }) => [metadata.namespace ?? ''] },
        keysOf: (_, read) =>
          read(nodes)
            .byIndex(DRAINING, DRAINING)
            .map(({ metadata }) => metadata.name),
      },
    ],
    owns: [{ resource: nodes }, { resource: pods, subresource: 'eviction' }, ...ownedForProtection],
    workers: WORKERS,
    startsWith: [ABANDONED],
    // A process that no longer leads must not report on drains.
    listen: () => attempts.forgetAll,
    async reconcile(name, context) {
      const node = context.read(nodes).get(name);
      if (node === undefined) {
        attempts.forget(name);
        return machineApiNamespace === undefined ? done() : settleDeletion(name, machineApiNamespace, context);
      }
      const step = nextDrainStep(readDrainFacts(node), context.read(nodes).size === 1);
      if (step.type !== 'cordon' && step.type !== 'empty') attempts.forget(name);
      return executeStep(step, node, attempts, context);
    },
  };
}

async function settleDeletion(name: string, namespace: string, context: Context): Promise<Next> {
  try {
    await releaseAbandoned(namespace, context);
  } catch (error) {
    // Without permission, every node that was ever deleted would try again for ever. One key for all of them does.
    if (name === ABANDONED || !isKubeError(error, 'SLW_KUBE_FORBIDDEN')) throw error;
    context.log.debug({ err: error }, 'could not read the health checks of the deleted node');
  }
  return name === ABANDONED ? again(HOUR) : done();
}

async function executeStep(
  step: DrainStep,
  node: Stored<Node>,
  attempts: DrainAttempts,
  context: Context,
): Promise<Next> {
  switch (step.type) {
    case 'rest':
      return isProtected(node) ? settleProtection(node, context) : done();
    case 'disown':
      await patchNode(node, disownChange, context.write);
      return done();
    case 'unblock':
      await patchNode(node, unblockChange, context.write);
      return done();
    case 'protect':
      await patchNode(node, protectChange(node), context.write);
      return done();
    case 'spare':
      return skipDrain(step, node, context);
    case 'cordon':
      return emptyNode(await cordon(step, node, context), attempts, context);
    case 'empty':
      return emptyNode({ node, drain: step, isFresh: false }, attempts, context);
    case 'uncordon':
      await uncordon(step, node, context);
      return done();
  }
}

type DrainStepOf<T extends DrainStep['type']> = Extract<DrainStep, { type: T }>;

async function skipDrain(step: DrainStepOf<'spare'>, node: Stored<Node>, context: Context): Promise<Next> {
  const { write, events, log } = context;
  const unprotected = await protectMachine(node, context);
  if (unprotected !== null) {
    await reportUnprotected(node, unprotected, false, context);
    return again(computeRetryDelay(0));
  }
  await patchNode(node, answerChange(node, step.wish), write);
  const message =
    `The node is not drained for the update to ${step.wish.config}: there is no other node to run its pods. ` +
    'A reboot interrupts them';
  log.info(message);
  events.record(nodes, node, { type: 'Normal', reason: 'Drain', message });
  return done();
}

async function cordon(
  { wish, ours, since }: DrainStepOf<'cordon'>,
  node: Stored<Node>,
  context: Context,
): Promise<CordonedNode> {
  const now = context.now();
  const cordoned = await patchNode(node, cordonChange(node, ours, since, now), context.write);
  const message = `The node is cordoned, and is being drained for the update to ${wish.config}`;
  if (ours) context.events.record(nodes, node, { type: 'Normal', reason: 'Cordon', message });
  context.log.info({ cordonedBefore: !ours }, 'started a drain');
  return { node: cordoned, drain: { type: 'empty', wish, since: since ?? now.getTime() }, isFresh: true };
}

/** All requests of the node are answered, and it is protected: it is about to reboot, or is not ready since. */
async function settleProtection(node: Stored<Node>, context: Context): Promise<Next> {
  const now = context.now().getTime();
  const isUpdating = readDrainFacts(node).wanted?.verb === 'drain';
  const until = protectedUntil(node, isUpdating, now);
  if (until === Infinity) return done();
  if (until !== null) return again(until - now);
  await releaseMachine(node, context);
  await patchNode(node, releaseChange(node), context.write);
  context.log.info('the node is no longer protected from health checks and the cluster autoscaler');
  return done();
}

/**
 * What ends the protection, if it can end now. The node is uncordoned in any case: the next run tries again. Only health
 * checks count from when the node went down; the autoscaler starts to count when it may delete the node.
 */
async function endProtection(node: Stored<Node>, context: Context): Promise<ReturnType<typeof releaseNode>> {
  if (!isProtected(node) || (findDownSince(node) !== null && readDrainFacts(node).hasMachine)) return {};
  try {
    await releaseMachine(node, context);
    return releaseNode(node);
  } catch (error) {
    if (!isKubeError(error) || isKubeError(error, 'SLW_KUBE_CONFLICT')) throw error;
    context.log.warn({ err: error }, 'could not end the protection of the machine from its health check; trying again');
    return {};
  }
}

async function uncordon(step: DrainStepOf<'uncordon'>, node: Stored<Node>, context: Context): Promise<void> {
  const { write, events, log } = context;
  const released = await endProtection(node, context);
  try {
    await patchNode(node, uncordonChange(step.wish, step.ours, released), write);
  } catch (error) {
    if (isKubeError(error, 'SLW_KUBE_FORBIDDEN', 'SLW_KUBE_INVALID')) {
      events.record(nodes, node, { type: 'Warning', reason: 'FailedToUncordon', message: error.message });
    }
    throw error;
  }
  const message = step.ours
    ? `The node is uncordoned: it runs ${step.wish.config}`
    : `The node runs ${step.wish.config}. If it is cordoned, it stays cordoned, because Slipway did not cordon it. To schedule pods again, run: kubectl uncordon ${node.metadata.name}`;
  log.info({ ours: step.ours }, 'completed an uncordon request');
  events.record(nodes, node, { type: 'Normal', reason: 'Uncordon', message });
}
