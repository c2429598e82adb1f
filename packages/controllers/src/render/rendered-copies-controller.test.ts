import { describe, expect, it } from 'vitest';
import { planCopies, type RenderedFacts } from './rendered-copies-controller.ts';

const nothing = { copy: [], restore: [], drop: [] };
const fact = (more: Partial<RenderedFacts>): RenderedFacts => ({
  name: 'a',
  exists: true,
  isReferenced: true,
  canBeRendered: false,
  copy: 'none',
  ...more,
});

describe('a copy of a rendered config', () => {
  it.each<[string, Partial<RenderedFacts>, object]>([
    ['is made while nodes run what their pool has moved on from', {}, { copy: ['a'] }],
    ['is made whole when it was begun', { copy: 'part' }, { copy: ['a'] }],
    ['is not made for what the pool renders now', { canBeRendered: true }, {}],
    ['is not made for what nobody runs', { isReferenced: false }, {}],
    ['stays while it may be needed', { copy: 'whole' }, {}],
    ['brings back what was deleted', { exists: false, copy: 'whole' }, { restore: ['a'] }],
    ['cannot bring back what it has only a part of', { exists: false, copy: 'part' }, {}],
    ['goes when nobody runs it any more', { isReferenced: false, copy: 'whole' }, { drop: ['a'] }],
    ['goes when the pool has come back to it', { canBeRendered: true, copy: 'part' }, { drop: ['a'] }],
  ])('%s', (_, more, plan) => {
    expect(planCopies([fact(more)])).toEqual({ ...nothing, ...plan });
  });
});
