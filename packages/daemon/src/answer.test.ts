import { describe, expect, it } from 'vitest';
import { HOLDS_MS, noteAnswer, type Refused, standingAnswer } from './answer.ts';

const problem = { code: 'SLW_DAEMON_CONFIG', message: 'no such MachineConfig' };
const missing: Refused = { type: 'refused', cause: 'config', problem };
const drifted: Refused = { type: 'refused', cause: 'drift', problem };
const NOW = 1000;

describe('an update that was refused', () => {
  it('is refused again without a look at the machine, for a while', () => {
    const answer = noteAnswer('a to b', missing, NOW);
    expect(standingAnswer(answer, 'a to b', NOW)).toBe(missing);
    expect(standingAnswer(answer, 'a to b', NOW + HOLDS_MS)).toBeNull();
    expect(answer.question).toBe('a to b');
  });

  it('says nothing of another one', () => {
    expect(standingAnswer(noteAnswer('a to b', missing, NOW), 'a to c', NOW)).toBeNull();
  });

  it('is looked at again at once where drift was the reason: that it is gone is heard of', () => {
    const answer = noteAnswer('a to b', drifted, NOW);
    expect(standingAnswer(answer, 'a to b', NOW)).toBeNull();
    expect(answer.question).toBe('a to b');
  });

  it('is forgotten when one can be begun', () => {
    expect(standingAnswer(null, 'a to b', NOW)).toBeNull();
  });
});
