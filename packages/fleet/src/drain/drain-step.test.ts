import { cordonedAnnotation, drainSinceAnnotation, nodeAnnotations } from '@slipway/api';
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
}

function decideStep({ wants, has, cordoned, claims = cordoned === 'by us', since }: DrainCase, isOnlyNode = false) {
  const annotations = {
    ...(wants !== undefined && { [nodeAnnotations.desiredDrain]: wants }),
    ...(has !== undefined && { [nodeAnnotations.lastAppliedDrain]: has }),
    ...(claims && { [cordonedAnnotation]: BEGAN }),
    ...(since !== undefined && { [drainSinceAnnotation]: since }),
  };
  const node = { metadata: { name: 'n', annotations }, spec: cordoned === undefined ? {} : { unschedulable: true } };
  return nextDrainStep(readDrainFacts(node), isOnlyNode);
}

const drain = { verb: 'drain', text: 'drain-b', config: 'b' } as const;
const uncordon = { verb: 'uncordon', text: 'uncordon-b', config: 'b' } as const;

describe('a node', () => {
  it.each<[string, DrainCase, ReturnType<typeof decideStep>]>([
    ['that asks for nothing is left alone', {}, { type: 'rest' }],
    ['that a person cordoned is left alone', { cordoned: 'by a person' }, { type: 'rest' }],
    [
      'that has what it asked for is left alone',
      { wants: 'drain-b', has: 'drain-b', cordoned: 'by us' },
      { type: 'rest' },
    ],
    ['that asks for something unknown is left alone', { wants: 'paint-b' }, { type: 'rest' }],
    ['that names no config is left alone', { wants: 'drain-' }, { type: 'rest' }],
    [
      'that asks for a drain is cordoned',
      { wants: 'drain-b' },
      { type: 'cordon', wish: drain, ours: true, since: null },
    ],
    [
      'that a person has cordoned only gets the time, before it is emptied',
      { wants: 'drain-b', cordoned: 'by a person' },
      { type: 'cordon', wish: drain, ours: false, since: null },
    ],
    [
      'that a person uncordons in the middle of its drain is cordoned again, and the drain is no newer for it',
      { wants: 'drain-b', claims: true, since: BEGAN },
      { type: 'cordon', wish: drain, ours: true, since },
    ],
    [
      'with a time that nobody can read gets a new one',
      { wants: 'drain-b', cordoned: 'by us', since: 'long ago' },
      { type: 'cordon', wish: drain, ours: false, since: null },
    ],
    [
      'that is cordoned for its drain is emptied',
      { wants: 'drain-b', has: 'uncordon-a', cordoned: 'by us', since: BEGAN },
      { type: 'empty', wish: drain, since },
    ],
    [
      'that a person cordoned is emptied too',
      { wants: 'drain-b', cordoned: 'by a person', since: BEGAN },
      { type: 'empty', wish: drain, since },
    ],
    [
      'that was drained for one config and asks again for another is emptied anew',
      { wants: 'drain-b', has: 'drain-a', cordoned: 'by us' },
      { type: 'cordon', wish: drain, ours: false, since: null },
    ],
    [
      'that asks for its pods back gets them',
      { wants: 'uncordon-b', has: 'drain-b', cordoned: 'by us' },
      { type: 'uncordon', wish: uncordon, ours: true },
    ],
    [
      'that asks for its pods back in the middle of a drain gets them',
      { wants: 'uncordon-b', cordoned: 'by us', since: BEGAN },
      { type: 'uncordon', wish: uncordon, ours: true },
    ],
    [
      'whose update was called off in its drain gets its pods back, though it asks as it did after its last update',
      { wants: 'uncordon-b', has: 'uncordon-b', cordoned: 'by us', since: BEGAN },
      { type: 'uncordon', wish: uncordon, ours: true },
    ],
    [
      'that a person cordoned and whose update was called off in its drain stays cordoned, and is drained no longer',
      { wants: 'uncordon-b', has: 'uncordon-b', cordoned: 'by a person', since: BEGAN },
      { type: 'uncordon', wish: uncordon, ours: false },
    ],
    [
      'that a person cordoned stays so when it asks for its pods back',
      { wants: 'uncordon-b', has: 'drain-b', cordoned: 'by a person' },
      { type: 'uncordon', wish: uncordon, ours: false },
    ],
    [
      'that a person has uncordoned is nothing of ours: what they cordon next stays cordoned',
      { wants: 'drain-b', has: 'drain-b', claims: true },
      { type: 'disown' },
    ],
  ])('%s', (_, said, step) => {
    expect(decideStep(said)).toEqual(step);
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
