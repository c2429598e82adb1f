// A Node, as a rollout sees it.
import type { Node } from '@slipway/api';
import {
  cordonedAnnotation,
  drainBlockedAnnotation,
  nodeAnnotations,
  notYetSet,
  targetReasonAnnotation,
} from '@slipway/api/names';
import type { NodeFacts, NodeState } from './facts.ts';
import { parseTargetReason } from './target-reason.ts';

const zoneLabel = 'topology.kubernetes.io/zone';
const states = ['Working', 'Done', 'Degraded', 'Rebooting', 'Unreconcilable'] as const;
const MAX_TEXT = 2000;

export function nodeFactsOf({ metadata, spec, status }: Node): NodeFacts {
  const { annotations = {}, labels = {} } = metadata;
  const createdAt = timeOf(metadata.creationTimestamp);
  const { givenAt, wasFailing } = parseTargetReason(annotations[targetReasonAnnotation]);
  const isCordoned = spec?.unschedulable === true;
  return {
    name: metadata.name,
    createdAt,
    zone: textIn(labels[zoneLabel]),
    current: configIn(annotations[nodeAnnotations.currentConfig]),
    desired: configIn(annotations[nodeAnnotations.desiredConfig]),
    state: stateIn(annotations[nodeAnnotations.state]),
    reason: textIn(annotations[nodeAnnotations.reason]),
    ...readinessOf(status?.conditions ?? [], createdAt),
    isCordoned,
    isCordonedByUs: isCordoned && annotations[cordonedAnnotation] !== undefined,
    drainBlocked: textIn(annotations[drainBlockedAnnotation]),
    osImage: textIn(status?.nodeInfo?.osImage),
    givenAt,
    wasFailing,
    isBeingDeleted: metadata.deletionTimestamp !== undefined,
  };
}

const textIn = (text: string | undefined): string => (text === undefined ? '' : text.slice(0, MAX_TEXT));

const configIn = (text: string | undefined): string | null =>
  text === undefined || text === '' || text === notYetSet ? null : text;

const stateIn = (text: string | undefined): NodeState => states.find((state) => state === text) ?? null;

function timeOf(text: string | undefined): number {
  const time = Date.parse(text ?? '');
  return Number.isNaN(time) ? 0 : time;
}

type Conditions = NonNullable<NonNullable<Node['status']>['conditions']>;

/** As users know it: Ready, and neither short of disk nor without a network. A Node whose kubelet never spoke is not ready. */
function readinessOf(
  conditions: Conditions,
  createdAt: number,
): Pick<NodeFacts, 'isReady' | 'notReady' | 'readyChangedAt'> {
  const ready = conditions.find(({ type }) => type === 'Ready');
  const troubles = conditions.filter(
    ({ type, status }) => (type === 'DiskPressure' || type === 'NetworkUnavailable') && status === 'True',
  );
  const speaks = ready?.status === 'True';
  const said = ready === undefined ? 'its kubelet has not reported yet' : (ready.message ?? `Ready is ${ready.status}`);
  const notReady = [...(speaks ? [] : [said]), ...troubles.map(({ type, message = 'True' }) => `${type}: ${message}`)];
  const changed = (speaks ? [ready, ...troubles] : [ready]).map((each) => timeOf(each?.lastTransitionTime));
  return {
    isReady: notReady.length === 0,
    notReady: notReady.join('; ').slice(0, MAX_TEXT),
    readyChangedAt: Math.max(createdAt, ...changed),
  };
}
