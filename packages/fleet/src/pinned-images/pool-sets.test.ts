import type { MachineConfigPool } from '@slipway/api';
import { addedImageSetsAnnotation } from '@slipway/api/names';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addedSetsOf, encodeAddedSets, nextPoolSets, takesSet, tooManySets } from './pool-sets.ts';

const role = 'machineconfiguration.openshift.io/role';
const set = (name: string, ...roles: string[]) => ({
  metadata: { name, labels: Object.fromEntries(roles.map((each) => [role, each])) },
});

interface Given {
  readonly names?: readonly string[];
  readonly added?: readonly string[];
  readonly selector?: MachineConfigPool['spec']['machineConfigSelector'];
}

const worker = ({ names = [], added = [], selector = { matchLabels: { [role]: 'worker' } } }: Given = {}) => ({
  metadata: { name: 'worker', annotations: { [addedImageSetsAnnotation]: encodeAddedSets(added) } },
  spec: { machineConfigSelector: selector, pinnedImageSets: names.map((name) => ({ name })) },
});

describe('the sets that a pool takes', () => {
  it.each<[string, Given['selector'], string, boolean]>([
    ['of its role', { matchLabels: { [role]: 'worker' } }, 'worker', true],
    ['not of another role', { matchLabels: { [role]: 'worker' } }, 'master', false],
    [
      'of one of its roles',
      { matchExpressions: [{ key: role, operator: 'In', values: ['worker', 'infra'] }] },
      'infra',
      true,
    ],
    ['none where its selector is empty', {}, 'worker', false],
    ['none where a selector is refused', { matchExpressions: [{ key: role, operator: 'Is' }] }, 'worker', false],
  ])('%s', (_, selector, of, takes) => {
    expect(takesSet(worker({ selector }), set('a', of))).toBe(takes);
  });

  it('none without a selector', () => {
    const pool = { metadata: { name: 'worker' }, spec: {} };
    expect(takesSet(pool, set('a', 'worker'))).toBe(false);
  });
});

describe('spec.pinnedImageSets', () => {
  it('gets what matches', () => {
    expect(nextPoolSets(worker(), [set('b', 'worker'), set('a', 'worker'), set('c', 'master')])).toStrictEqual({
      names: ['a', 'b'],
      added: ['a', 'b'],
      leftOut: [],
    });
  });

  it('loses what was added and matches no more, and keeps what a person put there', () => {
    const pool = worker({ names: ['mine', 'gone', 'a'], added: ['gone', 'a'] });
    expect(nextPoolSets(pool, [set('a', 'worker')])).toStrictEqual({ names: ['mine', 'a'], added: ['a'], leftOut: [] });
  });

  it('keeps what a person put there though it matches, and would keep it if it did not', () => {
    const pool = worker({ names: ['a'] });
    const matching = nextPoolSets(pool, [set('a', 'worker')]);
    expect(matching).toStrictEqual({ names: ['a'], added: [], leftOut: [] });
    expect(nextPoolSets(pool, [])).toStrictEqual(matching);
  });

  it('keeps everything where what was added cannot be read', () => {
    const pool = worker({ names: ['a', 'b'] });
    pool.metadata.annotations[addedImageSetsAnnotation] = '{"a"';
    expect(nextPoolSets(pool, [])).toMatchObject({ names: ['a', 'b'], added: [] });
    pool.metadata.annotations[addedImageSetsAnnotation] = '{"a":1}';
    expect(addedSetsOf(pool)).toStrictEqual([]);
  });

  it('holds a hundred, a person’s first, and says which are left out', () => {
    const own = Array.from({ length: 99 }, (_, index) => `mine-${index}`);
    const next = nextPoolSets(
      worker({ names: own }),
      ['a', 'b', 'c', 'd', 'e'].map((name) => set(name, 'worker')),
    );
    expect(next.names).toStrictEqual([...own, 'a']);
    expect(next.leftOut).toStrictEqual(['b', 'c', 'd', 'e']);
    expect(tooManySets('worker', next)).toMatchObject({
      code: 'SLW_PIN_TOO_MANY_SETS',
      message: expect.stringMatching(/MachineConfigPool worker: .*at most 100.*found 104.*b, c, d and 1 more/),
    });
    expect(tooManySets('worker', { ...next, leftOut: [] })).toBeNull();
  });

  it('is settled after one step, never forgets a person’s, and has what it added remembered', () => {
    const names = fc.uniqueArray(fc.constantFrom<string[]>('a', 'b', 'c', 'd', 'e', 'f'));
    fc.assert(
      fc.property(names, names, names, (before, addedBefore, matching) => {
        const sets = matching.map((name) => set(name, 'worker'));
        const first = nextPoolSets(worker({ names: before, added: addedBefore }), sets);
        const own = before.filter((name) => !addedBefore.includes(name));
        expect(first.names).toEqual(expect.arrayContaining(own));
        expect(new Set(first.names)).toEqual(new Set([...own, ...matching]));
        expect(new Set(first.names).size).toBe(first.names.length);
        expect(first.added.every((name) => matching.includes(name) && !own.includes(name))).toBe(true);
        expect(nextPoolSets(worker(first), sets)).toEqual(first);
        // With every set gone, a person's own are left, and no other.
        expect(nextPoolSets(worker(first), []).names).toEqual(own);
      }),
    );
  });
});
