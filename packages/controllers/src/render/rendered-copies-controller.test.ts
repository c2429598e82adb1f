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
    ['is made while nodes run a config that their pool no longer uses', {}, { copy: ['a'] }],
    ['is completed if it was started', { copy: 'part' }, { copy: ['a'] }],
    ['is not made for the pool’s current config', { canBeRendered: true }, {}],
    ['is not made for an unused config', { isReferenced: false }, {}],
    ['stays while it may be needed', { copy: 'whole' }, {}],
    ['restores a deleted config', { exists: false, copy: 'whole' }, { restore: ['a'] }],
    ['cannot restore a config while it is incomplete', { exists: false, copy: 'part' }, {}],
    ['is deleted when the config is no longer used', { isReferenced: false, copy: 'whole' }, { drop: ['a'] }],
    ['is deleted when the pool uses the config again', { canBeRendered: true, copy: 'part' }, { drop: ['a'] }],
  ])('%s', (_, more, plan) => {
    expect(planCopies([fact(more)])).toEqual({ ...nothing, ...plan });
  });
});
