import { describe, expect, it } from 'vitest';
import { kernelArgumentsChange } from './settings.ts';

const words = (text: string) => text.split(' ').filter((word) => word !== '');

describe('kernel arguments', () => {
  it.each([
    { rule: 'what is new comes last', from: 'a', to: 'a b', removed: '', added: 'b' },
    { rule: 'what is gone goes, and the rest stays', from: 'a b c', to: 'a c', removed: 'b', added: '' },
    { rule: 'an order is kept by appending again', from: 'b', to: 'a b', removed: 'b', added: 'a b' },
    { rule: 'another order is a change', from: 'a b', to: 'b a', removed: 'a', added: 'a' },
    {
      rule: 'one that stands once more stands again at the end',
      from: 'a b',
      to: 'a b a',
      removed: 'a b',
      added: 'a b a',
    },
    { rule: 'one that stands twice goes as often', from: 'a a b', to: 'b', removed: 'a a', added: '' },
    { rule: 'of one that stands twice, one can go', from: 'x a a', to: 'x a', removed: 'a a', added: 'a' },
    {
      rule: 'the same key with another value is another',
      from: 'c=1 c=2',
      to: 'c=2 c=3',
      removed: 'c=1',
      added: 'c=3',
    },
  ])('$rule', ({ from, to, removed, added }) => {
    expect(kernelArgumentsChange(words(from), words(to))).toEqual({
      kind: 'kernel arguments',
      before: words(from),
      after: words(to),
      removed: words(removed),
      added: words(added),
    });
  });

  it.each([
    ['nothing and nothing', [], ['']],
    ['several in one entry and one by one', ['a  b', 'c'], ['a', 'b c']],
    ['quoted spaces and the same', ['x="1 2" y'], ['x="1 2"', 'y']],
  ])('are the same for %s', (_, from, to) => {
    expect(kernelArgumentsChange(from, to)).toBeNull();
  });

  it('are not split inside quotes', () => {
    expect(kernelArgumentsChange([], ['dyndbg="file a +p" quiet'])?.added).toEqual(['dyndbg="file a +p"', 'quiet']);
  });
});
