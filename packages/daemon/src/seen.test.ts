import { describe, expect, it } from 'vitest';
import { wantsPodsBack } from './seen.ts';

describe('a node that needs no drain asks for its pods back', () => {
  it.each<[string, string | null, string | null, boolean]>([
    ['not where it was never drained', null, null, false],
    ['when it was drained for what it now runs', 'drain-b', 'drain-b', true],
    ['when its drain was asked for and is no longer needed', 'drain-c', null, true],
    ['until it has them', 'uncordon-b', 'drain-b', true],
    ['not when it has them', 'uncordon-b', 'uncordon-b', false],
    ['not when it got them for an earlier config', 'uncordon-a', 'uncordon-a', false],
  ])('%s', (_, desiredDrain, lastAppliedDrain, expected) => {
    expect(wantsPodsBack('b', { currentConfig: 'b', desiredConfig: 'b', desiredDrain, lastAppliedDrain })).toBe(
      expected,
    );
  });
});
