import { drainBlockedAnnotation, nodeAnnotations } from '@slipway/api/names';
import { describe, expect, it } from 'vitest';
import { readNodeAnnotations, needsUncordon } from './cluster-view.ts';

describe('a node that needs no drain asks for its pods back', () => {
  it.each<[string, string | null, string | null, boolean]>([
    ['not where it was never drained', null, null, false],
    ['when it was drained for what it now runs', 'drain-b', 'drain-b', true],
    ['when its drain was asked for and is no longer needed', 'drain-c', null, true],
    ['until it has them', 'uncordon-b', 'drain-b', true],
    ['not when it has them', 'uncordon-b', 'uncordon-b', false],
    ['not when it got them for an earlier config', 'uncordon-a', 'uncordon-a', false],
  ])('%s', (_, desiredDrain, lastAppliedDrain, expected) => {
    expect(needsUncordon('b', { desiredDrain, lastAppliedDrain })).toBe(expected);
  });
});

describe('what the cluster says of a node', () => {
  const seen = (annotations?: Record<string, string>) =>
    readNodeAnnotations({
      node: { metadata: { name: 'n', ...(annotations !== undefined && { annotations }) } },
      machineConfigNode: undefined,
      machineConfiguration: undefined,
    });

  it('is nothing at first', () => {
    const nothing = { currentConfig: null, desiredConfig: null, desiredDrain: null, lastAppliedDrain: null };
    expect(seen()).toEqual({ ...nothing, drainBlocked: '' });
  });

  it('is also what its drain waits for', () => {
    const said = seen({ [nodeAnnotations.desiredDrain]: 'drain-b', [drainBlockedAnnotation]: 'waits for pod p' });
    expect(said).toMatchObject({ desiredDrain: 'drain-b', drainBlocked: 'waits for pod p' });
  });
});
