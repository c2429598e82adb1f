import { describe, expect, it } from 'vitest';
import type { Prepared } from './prepare-update.ts';
import { answerFrom, HOLDS_MS, type Refused, refusalOf } from './refusal.ts';

const problem = { code: 'SLW_DAEMON_CONFIG', message: 'no such MachineConfig' };
const ready: Prepared = {
  type: 'ready',
  target: { name: 'b', spec: {} },
  plan: {
    from: 'a',
    to: 'b',
    isEmpty: true,
    changes: [],
    irreconcilable: [],
    tolerated: [],
    actions: [],
    needsDrain: false,
    causes: [],
  },
};
const missing: Refused = { type: 'refused', cause: 'config', problem };
const drifted: Refused = { type: 'refused', cause: 'drift', problem };

const NOW = 1000;

describe('an update that was refused', () => {
  it('is refused again without a look at the machine, for a while', () => {
    const refusal = refusalOf('a to b', missing, NOW);
    expect(answerFrom(refusal, 'a to b', NOW)).toBe(missing);
    expect(answerFrom(refusal, 'a to b', NOW + HOLDS_MS)).toBeNull();
    expect(refusal?.question).toBe('a to b');
  });

  it('says nothing of another one', () => {
    expect(answerFrom(refusalOf('a to b', missing, NOW), 'a to c', NOW)).toBeNull();
  });

  it('is looked at again at once where drift was the reason: that it is gone is heard of', () => {
    const refusal = refusalOf('a to b', drifted, NOW);
    expect(answerFrom(refusal, 'a to b', NOW)).toBeNull();
    expect(refusal?.question).toBe('a to b');
  });

  it('is forgotten when one can be begun', () => {
    expect(refusalOf('a to b', ready, NOW)).toBeNull();
  });
});
