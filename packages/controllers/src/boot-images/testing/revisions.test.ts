import { expect, it } from 'vitest';
import { countSpecChanges, countTakenBack, listValues, type Revision } from './revisions.ts';

const at = (template: string, generation: number, isMarked = true): Revision => ({
  name: 'a',
  generation,
  template,
  userData: 'stub',
  isMarked,
});
const updates = [at('old', 2, false), at('old', 2, false), at('new', 3), at('new', 3), at('newest', 4)];

it.each([
  { what: 'two updates', revisions: updates, takenBack: 0, values: 3, changes: 2 },
  { what: 'an update that is reverted', revisions: [...updates, at('new', 5)], takenBack: 1, values: 4, changes: 3 },
  {
    what: 'an annotation that is removed',
    revisions: [...updates, at('newest', 4, false)],
    takenBack: 1,
    values: 3,
    changes: 2,
  },
])('$what: $takenBack writes taken back', ({ revisions, takenBack, values, changes }) => {
  const others = revisions.map((each): Revision => Object.assign({ ...each }, { name: 'b', template: 'other' }));
  const all = [...others, ...revisions];
  expect(countTakenBack(all, 'a')).toBe(takenBack);
  expect(listValues(all, 'a')).toHaveLength(values);
  expect(countSpecChanges(all, 'a')).toBe(changes);
});
