import type { Node } from '@slipway/api';
import {
  cordonedAnnotation,
  drainBlockedAnnotation,
  nodeAnnotations,
  targetReasonAnnotation,
} from '@slipway/api/names';
import { describe, expect, it } from 'vitest';
import { nodeFactsOf } from './node-facts.ts';
import { at, NEW, NOW, OLD } from './sample.ts';
import { AFTER_FAILURE, targetReason } from './target-reason.ts';

type Conditions = NonNullable<NonNullable<Node['status']>['conditions']>;
const ready = { type: 'Ready', status: 'True', lastTransitionTime: at(-30) };

const node = (conditions: Conditions = [ready], more: Partial<Node> = {}): Node => ({
  metadata: { name: 'worker-1', creationTimestamp: at(-60) },
  status: { conditions },
  ...more,
});

describe('nodeFactsOf', () => {
  it('reads all that a rollout is decided on', () => {
    const facts = nodeFactsOf({
      metadata: {
        name: 'worker-1',
        creationTimestamp: at(-60),
        deletionTimestamp: at(0),
        labels: { 'topology.kubernetes.io/zone': 'a' },
        annotations: {
          [nodeAnnotations.currentConfig]: OLD,
          [nodeAnnotations.desiredConfig]: NEW,
          [nodeAnnotations.state]: 'Degraded',
          [nodeAnnotations.reason]: 'it broke',
          [targetReasonAnnotation]: targetReason(NOW, `${AFTER_FAILURE}again`),
          [cordonedAnnotation]: at(-1),
          [drainBlockedAnnotation]: 'pod a/b, budget c',
        },
      },
      spec: { unschedulable: true },
      status: { conditions: [ready], nodeInfo: { osImage: 'CoreOS 9.6.1' } },
    });
    expect(facts).toEqual({
      name: 'worker-1',
      createdAt: NOW - 60 * 60_000,
      zone: 'a',
      current: OLD,
      desired: NEW,
      state: 'Degraded',
      reason: 'it broke',
      isReady: true,
      notReady: '',
      readyChangedAt: NOW - 30 * 60_000,
      isCordoned: true,
      isCordonedByUs: true,
      drainBlocked: 'pod a/b, budget c',
      osImage: 'CoreOS 9.6.1',
      givenAt: NOW,
      wasFailing: true,
      isBeingDeleted: true,
    });
  });

  it('a Node that nobody has spoken of says nothing', () => {
    expect(nodeFactsOf({ metadata: { name: 'worker-1' } })).toMatchObject({
      current: null,
      desired: null,
      state: null,
      zone: '',
      isReady: false,
      notReady: 'its kubelet has not reported yet',
      isCordoned: false,
      givenAt: null,
    });
  });

  it('what is not a config or a state of ours counts as nothing', () => {
    const annotations = {
      [nodeAnnotations.currentConfig]: '',
      [nodeAnnotations.desiredConfig]: 'not-yet-set',
      [nodeAnnotations.state]: 'Fine',
    };
    const facts = nodeFactsOf({ metadata: { name: 'worker-1', annotations } });
    expect(facts).toMatchObject({ current: null, desired: null, state: null });
  });

  it('a node that a person cordoned is not ours', () => {
    const facts = nodeFactsOf(node([ready], { spec: { unschedulable: true } }));
    expect(facts).toMatchObject({ isCordoned: true, isCordonedByUs: false });
    const annotations = { [cordonedAnnotation]: at(0) };
    expect(nodeFactsOf({ metadata: { name: 'worker-1', annotations } })).toMatchObject({ isCordonedByUs: false });
  });

  it.each<[string, Conditions, string]>([
    ['its kubelet is silent', [{ ...ready, status: 'Unknown', message: 'no word' }], 'no word'],
    ['its kubelet says so', [{ ...ready, status: 'False' }], 'Ready is False'],
    ['its disk is full', [ready, { type: 'DiskPressure', status: 'True', message: 'full' }], 'DiskPressure: full'],
    ['it has no network', [ready, { type: 'NetworkUnavailable', status: 'True' }], 'NetworkUnavailable: True'],
  ])('is not ready when %s', (_, conditions, notReady) => {
    expect(nodeFactsOf(node(conditions))).toMatchObject({ isReady: false, notReady });
  });

  it('other conditions, and those that are false, do not matter', () => {
    const others = ['DiskPressure', 'NetworkUnavailable', 'PIDPressure'].map((type) => ({ type, status: 'False' }));
    expect(nodeFactsOf(node([ready, ...others, { type: 'MemoryPressure', status: 'True' }])).isReady).toBe(true);
  });
});
