import { drainBlockedAnnotation, nodeAnnotations } from '@slipway/api/names';
import { describe, expect, it } from 'vitest';
import { readNodeAnnotations, needsUncordon } from './cluster-view.ts';

describe('a node that needs no drain requests to be uncordoned', () => {
  it.each<[string, string | null, string | null, boolean]>([
    ['not if it was never drained', null, null, false],
    ['if it was drained for its current config', 'drain-b', 'drain-b', true],
    ['if its drain was requested and is no longer needed', 'drain-c', null, true],
    ['until it is uncordoned', 'uncordon-b', 'drain-b', true],
    ['not after it was uncordoned', 'uncordon-b', 'uncordon-b', false],
    ['not if it was uncordoned for an earlier config', 'uncordon-a', 'uncordon-a', false],
  ])('%s', (_, desiredDrain, lastAppliedDrain, expected) => {
    expect(needsUncordon('b', { desiredDrain, lastAppliedDrain })).toBe(expected);
  });
});

describe('the annotations of a node', () => {
  const seen = (annotations?: Record<string, string>) =>
    readNodeAnnotations({
      node: { metadata: { name: 'n', ...(annotations !== undefined && { annotations }) } },
      machineConfigNode: undefined,
      machineConfiguration: undefined,
    });

  it('are empty at first', () => {
    const nothing = { currentConfig: null, desiredConfig: null, desiredDrain: null, lastAppliedDrain: null };
    expect(seen()).toEqual({ ...nothing, drainBlocked: '' });
  });

  it('include what blocks its drain', () => {
    const said = seen({ [nodeAnnotations.desiredDrain]: 'drain-b', [drainBlockedAnnotation]: 'waits for pod p' });
    expect(said).toMatchObject({ desiredDrain: 'drain-b', drainBlocked: 'waits for pod p' });
  });
});
