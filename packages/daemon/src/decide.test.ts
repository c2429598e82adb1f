import { describe, expect, it } from 'vitest';
import { decide, type NodeFacts } from './decide.ts';

const facts = (more: Partial<NodeFacts>): NodeFacts => ({
  current: 'b',
  said: { currentConfig: 'b', desiredConfig: 'b' },
  memory: { reported: 'b' },
  isForced: false,
  ...more,
});
const said = (currentConfig: string | null, desiredConfig: string | null) => ({
  said: { currentConfig, desiredConfig },
});

describe('a node', () => {
  it.each<[string, Partial<NodeFacts>, string]>([
    ['stays at the config it is to have', {}, 'stay'],
    ['stays where it is while it is told of none', said('b', null), 'stay'],
    ['goes to another one it is told of', said('b', 'c'), 'update'],
    ['goes back to an older one that it is told of, for somebody asked', said('b', 'a'), 'update'],
    ['that the cluster does not know yet follows', said(null, 'c'), 'update'],
    [
      'that changed and could not say so yet, and is told of the next one, follows',
      { ...said('a', 'c'), memory: { reported: 'a' } },
      'update',
    ],
    ['does not go back because the cluster was restored to an older state', said('a', 'a'), 'hold'],
    [
      'still does not after it has told the restored cluster what it has',
      { ...said('b', 'a'), memory: { reported: 'b', held: 'a' } },
      'hold',
    ],
    [
      'follows as soon as it is told of another one',
      { ...said('b', 'c'), memory: { reported: 'b', held: 'a' } },
      'update',
    ],
    ['goes back all the same when forced', { ...said('a', 'a'), isForced: true }, 'update'],
    ['that has no memory yet trusts its disk', { ...said('a', 'a'), memory: {} }, 'hold'],
    [
      'does not try again what has failed',
      { ...said('b', 'c'), memory: { reported: 'b', failed: { target: 'c', problem: { code: 'X', message: 'no' } } } },
      'give up',
    ],
    [
      'tries again when forced',
      { ...said('b', 'c'), isForced: true, memory: { failed: { target: 'c', problem: { code: 'X', message: 'no' } } } },
      'update',
    ],
    [
      'tries another one after one has failed',
      { ...said('b', 'd'), memory: { reported: 'b', failed: { target: 'c', problem: { code: 'X', message: 'no' } } } },
      'update',
    ],
  ])('%s', (_, given, expected) => {
    expect(decide(facts(given)).type).toBe(expected);
  });
});
