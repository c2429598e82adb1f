// Drains a node that requests it, as far as PodDisruptionBudgets allow, and uncordons it on request.
import { type Node, nodes, podDisruptionBudgets, pods } from '@slipway/api';
import { readDrainFacts, type DrainStep, isBeingDrained, keepWhatDecides, nextDrainStep } from '@slipway/fleet/drain';
import {
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
import { answerChange, cordonChange, disownChange, unblockChange, patchNode, uncordonChange } from './patch-node.ts';

export interface DrainOptions {
  readonly metrics?: Pick<Metrics, 'registry'> | undefined;
}

const DRAINING = 'draining';
/** Nodes reconciled concurrently: a run waits for the API server, but not for pods to terminate. */
const WORKERS = 32;

export function drainController({ metrics }: DrainOptions = {}): ControllerDef {
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
    owns: [{ resource: nodes }, { resource: pods, subresource: 'eviction' }],
    workers: WORKERS,
    // A process that no longer leads must not report on drains.
    listen: () => attempts.forgetAll,
    async reconcile(name, context) {
      const node = context.read(nodes).get(name);
      if (node === undefined) {
        attempts.forget(name);
        return done();
      }
      const step = nextDrainStep(readDrainFacts(node), context.read(nodes).size === 1);
      if (step.type !== 'cordon' && step.type !== 'empty') attempts.forget(name);
      return executeStep(step, node, attempts, context);
    },
  };
}

async function executeStep(
  step: DrainStep,
  node: Stored<Node>,
  attempts: DrainAttempts,
  context: Context,
): Promise<Next> {
  switch (step.type) {
    case 'rest':
      return done();
    case 'disown':
      await patchNode(node, disownChange, context.write);
      return done();
    case 'unblock':
      await patchNode(node, unblockChange, context.write);
      return done();
    case 'spare':
      await skipDrain(step, node, context);
      return done();
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

async function skipDrain(
  step: DrainStepOf<'spare'>,
  node: Stored<Node>,
  { write, events, log }: Context,
): Promise<void> {
  await patchNode(node, answerChange(step.wish), write);
  const message =
    `The node is not drained for the update to ${step.wish.config}: there is no other node to run its pods. ` +
    'A reboot interrupts them';
  log.info(message);
  events.record(nodes, node, { type: 'Normal', reason: 'Drain', message });
}

async function cordon(
  { wish, ours, since }: DrainStepOf<'cordon'>,
  node: Stored<Node>,
  context: Context,
): Promise<CordonedNode> {
  const now = context.now();
  const cordoned = await patchNode(node, cordonChange(ours, since, now), context.write);
  const message = `The node is cordoned, and is being drained for the update to ${wish.config}`;
  if (ours) context.events.record(nodes, node, { type: 'Normal', reason: 'Cordon', message });
  context.log.info({ cordonedBefore: !ours }, 'started a drain');
  return { node: cordoned, drain: { type: 'empty', wish, since: since ?? now.getTime() }, isFresh: true };
}

async function uncordon(
  step: DrainStepOf<'uncordon'>,
  node: Stored<Node>,
  { write, events, log }: Context,
): Promise<void> {
  try {
    await patchNode(node, uncordonChange(step.wish, step.ours), write);
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
