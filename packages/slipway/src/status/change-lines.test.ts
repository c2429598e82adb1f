import { describe, expect, it } from 'vitest';
import { changeLines } from './change-lines.ts';
import { nodeReport, oldConfig, poolReport, statusOf, waiting } from './sample-report.ts';

const before = statusOf([poolReport([waiting('worker-0'), waiting('worker-1'), nodeReport('worker-2')])]);

const withFirst = (first: Parameters<typeof nodeReport>[1]) =>
  statusOf([poolReport([nodeReport('worker-0', first), waiting('worker-1'), nodeReport('worker-2')])]);

describe('a fleet that is watched in a pipe', () => {
  it('says at first how pools are, and nodes that have not arrived', () => {
    expect(changeLines(null, before)).toEqual([
      'worker: updating: worker-0 goes first',
      'worker/worker-0: waiting',
      'worker/worker-1: waiting',
    ]);
  });

  it('says nothing where nothing changed', () => {
    expect(changeLines(before, structuredClone(before))).toEqual([]);
  });

  it('says what a node does now, and what is in its way', () => {
    const moving = { phase: 'updating', current: oldConfig, why: 'the canary' } as const;
    const preparing = withFirst({ ...moving, step: 'preparing' });
    expect(changeLines(before, preparing)).toContain('worker/worker-0: waiting → updating, preparing: the canary');
    const draining = withFirst({ ...moving, step: 'draining', blockedBy: 'pod a/b: budget a/c' });
    expect(changeLines(preparing, draining)).toEqual(['worker/worker-0: updating, draining: pod a/b: budget a/c']);
  });

  it('says that a node left, a pool was deleted, a node is in no pool, and that everything stopped', () => {
    const none = statusOf([poolReport([waiting('worker-0'), waiting('worker-1')])]);
    expect(changeLines(before, none)).toContain('worker/worker-2: left the pool');
    const message = 'Node worker-2 is selected by no pool';
    const stopped = statusOf([], {
      stopped: 'fire\u001b[2J',
      nodesWithoutPool: [{ name: 'worker-2', code: 'SLW_POOL_NONE', message }],
    });
    expect(changeLines(before, stopped)).toEqual([
      'all rollouts are stopped: fire\\u{1b}[2J',
      'worker: deleted',
      message,
    ]);
    expect(changeLines(stopped, before)[0]).toBe('rollouts go on');
  });
});
