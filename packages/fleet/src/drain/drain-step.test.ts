import {
  cordonedAnnotation,
  drainBlockedAnnotation,
  drainSinceAnnotation,
  nodeAnnotations,
  scaleDownBeforeAnnotation,
} from '@slipway/api';
import { describe, expect, it } from 'vitest';
import { readDrainFacts, nextDrainStep } from './drain-step.ts';

const BEGAN = '2026-01-02T03:04:05.000Z';
const since = Date.parse(BEGAN);

interface DrainCase {
  wants?: string;
  has?: string;
  cordoned?: 'by us' | 'by a person';
  /** Only the annotation is left. */
  claims?: boolean;
  since?: string;
  blocked?: string;
}

function decideStep(
  { wants, has, cordoned, claims = cordoned === 'by us', since, blocked }: DrainCase,
  isOnlyNode = false,
) {
  const annotations = {
    ...(wants !== undefined && { [nodeAnnotations.desiredDrain]: wants }),
    ...(has !== undefined && { [nodeAnnotations.lastAppliedDrain]: has }),
    ...(claims && { [cordonedAnnotation]: BEGAN }),
    ...(since !== undefined && { [drainSinceAnnotation]: since }),
    ...(blocked !== undefined && { [drainBlockedAnnotation]: blocked }),
  };
  const node = { metadata: { name: 'n', annotations }, spec: cordoned === undefined ? {} : { unschedulable: true } };
  return nextDrainStep(readDrainFacts(node), isOnlyNode);
}

const drain = { verb: 'drain', text: 'drain-b', config: 'b' } as const;
const uncordon = { verb: 'uncordon', text: 'uncordon-b', config: 'b' } as const;

describe('a node', () => {
  it.each<[string, DrainCase, ReturnType<typeof decideStep>]>([
    ['without a request is ignored', {}, { type: 'rest' }],
    ['that a user cordoned is ignored', { cordoned: 'by a person' }, { type: 'rest' }],
    ['with an answered request is ignored', { wants: 'drain-b', has: 'drain-b', cordoned: 'by us' }, { type: 'rest' }],
    ['with an unknown request is ignored', { wants: 'paint-b' }, { type: 'rest' }],
    ['whose request names no config is ignored', { wants: 'drain-' }, { type: 'rest' }],
    [
      'that is not being drained has nothing that blocks its drain',
      { wants: 'uncordon-b', has: 'uncordon-b', blocked: 'a user wrote this' },
      { type: 'unblock' },
    ],
    [
      'that requests a drain is cordoned',
      { wants: 'drain-b' },
      { type: 'cordon', wish: drain, ours: true, since: null },
    ],
    [
      'that a user cordoned only gets a start time before its pods are evicted',
      { wants: 'drain-b', cordoned: 'by a person' },
      { type: 'cordon', wish: drain, ours: false, since: null },
    ],
    [
      'that a user uncordons during its drain is cordoned again, and its drain keeps its start time',
      { wants: 'drain-b', claims: true, since: BEGAN },
      { type: 'cordon', wish: drain, ours: true, since },
    ],
    [
      'with an invalid start time gets a new one',
      { wants: 'drain-b', cordoned: 'by us', since: 'long ago' },
      { type: 'cordon', wish: drain, ours: false, since: null },
    ],
    [
      'that is cordoned for its drain has its pods evicted',
      { wants: 'drain-b', has: 'uncordon-a', cordoned: 'by us', since: BEGAN },
      { type: 'empty', wish: drain, since },
    ],
    [
      'that a user cordoned has its pods evicted too',
      { wants: 'drain-b', cordoned: 'by a person', since: BEGAN },
      { type: 'empty', wish: drain, since },
    ],
    [
      'that was drained for one config and requests a drain for another is drained again',
      { wants: 'drain-b', has: 'drain-a', cordoned: 'by us' },
      { type: 'cordon', wish: drain, ours: false, since: null },
    ],
    [
      'that requests it is uncordoned',
      { wants: 'uncordon-b', has: 'drain-b', cordoned: 'by us' },
      { type: 'uncordon', wish: uncordon, ours: true },
    ],
    [
      'that requests it during a drain is uncordoned',
      { wants: 'uncordon-b', cordoned: 'by us', since: BEGAN },
      { type: 'uncordon', wish: uncordon, ours: true },
    ],
    [
      'whose update was abandoned during its drain is uncordoned, although its request equals that of its last update',
      { wants: 'uncordon-b', has: 'uncordon-b', cordoned: 'by us', since: BEGAN },
      { type: 'uncordon', wish: uncordon, ours: true },
    ],
    [
      'that a user cordoned and whose update was abandoned during its drain stays cordoned, and its drain ends',
      { wants: 'uncordon-b', has: 'uncordon-b', cordoned: 'by a person', since: BEGAN },
      { type: 'uncordon', wish: uncordon, ours: false },
    ],
    [
      'that a user cordoned stays cordoned when it requests to be uncordoned',
      { wants: 'uncordon-b', has: 'drain-b', cordoned: 'by a person' },
      { type: 'uncordon', wish: uncordon, ours: false },
    ],
    [
      'that a user uncordoned loses the mark of Slipway: the next cordon of a user stays',
      { wants: 'drain-b', has: 'drain-b', claims: true },
      { type: 'disown' },
    ],
  ])('%s', (_, said, step) => {
    expect(decideStep(said)).toEqual(step);
  });

  it('that is the only one is marked before its Machine, so that an abandoned update is cleaned up', () => {
    const annotations = {
      [nodeAnnotations.desiredDrain]: 'drain-b',
      'machine.openshift.io/machine': 'openshift-machine-api/m',
    };
    const node = { metadata: { name: 'n', annotations } };
    expect(nextDrainStep(readDrainFacts(node), true)).toEqual({ type: 'protect' });
    const marked = { metadata: { name: 'n', annotations: { ...annotations, [scaleDownBeforeAnnotation]: '' } } };
    expect(nextDrainStep(readDrainFacts(marked), true)).toEqual({ type: 'spare', wish: drain });
  });

  it('that is the only one is not drained, and not cordoned', () => {
    expect(decideStep({ wants: 'drain-b' }, true)).toEqual({ type: 'spare', wish: drain });
    expect(decideStep({ wants: 'drain-b', cordoned: 'by us', since: BEGAN }, true)).toEqual({
      type: 'spare',
      wish: drain,
    });
    expect(decideStep({ wants: 'uncordon-b', has: 'drain-b' }, true)).toEqual({
      type: 'uncordon',
      wish: uncordon,
      ours: false,
    });
  });
});
