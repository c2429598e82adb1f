import { describe, expect, it } from 'vitest';
import type { Hold, PoolFacts } from './facts.ts';
import { aimOf } from './hold.ts';
import { defaultRolloutPolicy } from './policy.ts';
import { at, NEW, NEXT, NOW, OLD, samplePool, sampleState } from './sample.ts';

const hold: Hold = { kind: 'return', instead: NEW, at: at(-5), why: 'a node failed' };
const untilResume = { ...defaultRolloutPolicy, hold: 'until-resume' } as const;
const held = { held: OLD, state: sampleState({ target: OLD, hold }) };
const byHand = { kind: 'rollback', instead: null, at: at(0), why: expect.stringContaining('set by hand') as string };

describe('what the machines of a pool are to have', () => {
  it.each<[string, Partial<PoolFacts>, object]>([
    ['the newest', {}, { target: NEW, held: null, hold: null }],
    ['nothing before anything was rendered', { newest: null }, { target: null }],
    ['what they are held at, before the newest', held, { target: OLD, held: OLD, hold }],
    [
      'the newest, when something new was rendered',
      { ...held, newest: NEXT },
      { target: NEXT, held: null, hold: null },
    ],
    [
      'what they are held at, until somebody says resume',
      { ...held, newest: NEXT, policy: untilResume },
      { target: OLD, hold },
    ],
    ['what somebody wrote there by hand', { held: OLD }, { target: OLD, held: OLD, hold: byHand }],
    ['what somebody wrote over a held one', { ...held, held: NEXT }, { target: NEXT, hold: byHand }],
    [
      'the newest, when somebody took the annotation away',
      { ...held, held: null },
      { target: NEW, held: null, hold: null },
    ],
  ])('%s', (_, pool, aim) => {
    expect(aimOf(samplePool(pool), NOW)).toMatchObject(aim);
  });

  it('what is written by hand is not ended by a new render', () => {
    const state = sampleState({ target: OLD, hold: { ...hold, kind: 'rollback', instead: null } });
    expect(aimOf(samplePool({ held: OLD, state, newest: NEXT }), NOW)).toMatchObject({ target: OLD });
  });
});
