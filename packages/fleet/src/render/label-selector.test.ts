import { describe, expect, it } from 'vitest';
import { type LabelSelector, matchesSelector } from './label-selector.ts';

const one = (key: string, operator: string, values?: string[]): LabelSelector => ({
  matchExpressions: [{ key, operator, ...(values === undefined ? {} : { values }) }],
});

describe('a label selector', () => {
  it.each<[string, LabelSelector | undefined, Record<string, string> | undefined, boolean]>([
    ['no selector selects nothing', undefined, { role: 'a' }, false],
    ['an empty selector selects everything', {}, undefined, true],
    ['a label with the value', { matchLabels: { role: 'a' } }, { role: 'a', more: 'x' }, true],
    ['a label with another value', { matchLabels: { role: 'a' } }, { role: 'b' }, false],
    ['an empty value is not an absent label', { matchLabels: { role: '' } }, {}, false],
    ['every label must match', { matchLabels: { role: 'a', zone: 'z' } }, { role: 'a' }, false],
    ['In with the value', one('role', 'In', ['a', 'b']), { role: 'b' }, true],
    ['In with another value', one('role', 'In', ['a', 'b']), { role: 'c' }, false],
    ['In without the label', one('role', 'In', ['a']), {}, false],
    ['NotIn with the value', one('role', 'NotIn', ['a']), { role: 'a' }, false],
    ['NotIn without the label', one('role', 'NotIn', ['a']), {}, true],
    ['Exists with any value', one('role', 'Exists'), { role: '' }, true],
    ['Exists without the label', one('role', 'Exists'), {}, false],
    ['DoesNotExist with the label', one('role', 'DoesNotExist'), { role: 'a' }, false],
    ['DoesNotExist without the label', one('role', 'DoesNotExist'), undefined, true],
    ['labels and expressions together', { matchLabels: { role: 'a' }, ...one('zone', 'Exists') }, { role: 'a' }, false],
    ['an unknown operator selects nothing', one('role', 'in', ['a']), { role: 'a' }, false],
    ['In without values selects nothing', one('role', 'In', []), { role: 'a' }, false],
    ['Exists with values selects nothing', one('role', 'Exists', ['a']), { role: 'a' }, false],
    ['a key of every object is no label', one('constructor', 'Exists'), {}, false],
  ])('%s', (_, selector, labels, expected) => {
    expect(matchesSelector(selector, labels)).toBe(expected);
  });
});
