import type { MachineConfigPool } from '@slipway/api';
import { addedImageSetsAnnotation } from '@slipway/api/names';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assignSets, collectSets } from './assign-sets.ts';
import {
  readAddedSets,
  type AssignedSet,
  decodeAssignment,
  encodeAddedSets,
  encodeAssignment,
  MAX_SETS,
  nextPoolSets,
  type PinAssignment,
  takesSet,
  tooManySets,
} from './assignment.ts';
import { holds, type PinNode } from './pin-facts.ts';
import { byName, samplePinNode, samplePinPool, sampleReport, sampleSet, sampleTold } from './testing/sample.ts';

const app = sampleSet('app');
const release = sampleSet('release', 3);
const pools = byName(samplePinPool('worker', [release]), samplePinPool('infra', [app, release]));
const assigned = (nodes: readonly PinNode[], of = pools) => assignSets(nodes, of, 0).changed;

describe('the assignment of a machine', () => {
  it('has the sets of all its pools, by name and once', () => {
    expect(assigned([samplePinNode('n1', { pools: ['worker', 'infra'] })]).get('n1')).toStrictEqual({
      sets: [app, release],
      mayPull: true,
      parallel: 5,
    });
  });

  it('is gentler on a control plane', () => {
    const compact = byName(
      samplePinPool('worker', [release]),
      samplePinPool('master', [app], { isControlPlane: true }),
    );
    expect(assigned([samplePinNode('n1', { pools: ['worker', 'master'] })], compact).get('n1')).toMatchObject({
      parallel: 2,
    });
  });

  it('is not written if nothing has changed', () => {
    expect(assigned([samplePinNode('n1', { told: sampleTold([release]) })]).size).toBe(0);
    expect(assigned([samplePinNode('n1', { pools: [], told: sampleTold([]) })]).size).toBe(0);
  });

  it('is written even without images: from then on the machine reports its free space', () => {
    expect(assigned([samplePinNode('n1', { pools: [] })]).get('n1')?.sets).toEqual([]);
  });

  it('releases a set that no pool has now', () => {
    expect(assigned([samplePinNode('n1', { pools: [], told: sampleTold([release]) })]).get('n1')?.sets).toEqual([]);
  });

  it('follows the generation of a set', () => {
    const told = sampleTold([sampleSet('release', 2)]);
    const reported = sampleReport({ release: 2 });
    expect(assigned([samplePinNode('n1', { told, reported })]).get('n1')?.sets).toEqual([release]);
  });

  it('first releases the old set, if a set was deleted and created again', () => {
    const told = sampleTold([sampleSet('release', 3, 'the-old-one')]);
    const reported = sampleReport({ release: 3 });
    const first = assigned([samplePinNode('n1', { told, reported })]).get('n1');
    expect(first?.sets).toEqual([]);
    // Until it has done so, nothing changes.
    expect(assigned([samplePinNode('n1', { told: first ?? null, reported })]).size).toBe(0);
    expect(assigned([samplePinNode('n1', { told: first ?? null })]).get('n1')?.sets).toEqual([release]);
  });

  it('first releases a set that it reports but was never assigned', () => {
    expect(assigned([samplePinNode('n1', { reported: sampleReport({ release: 3 }) })]).get('n1')?.sets).toEqual([]);
  });

  it('has at most a hundred sets', () => {
    const many = (prefix: string) => Array.from({ length: 80 }, (_, index) => sampleSet(`${prefix}${100 + index}`));
    const crowded = byName(samplePinPool('worker', many('w')), samplePinPool('infra', many('i')));
    const node = samplePinNode('n1', { pools: ['worker', 'infra'] });
    expect(assigned([node], crowded).get('n1')?.sets).toHaveLength(100);
    expect(collectSets(node, crowded).leftOut).toBe(60);
  });

  it('never counts a set as pinned if the images belong to another one', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 30 }), (events) => {
        const machine = createMachine();
        let [uid, generation] = [1, 1];
        for (const each of events) {
          if (each === 'remade') [uid, generation] = [uid + 1, 1];
          if (each === 'edited') generation += 1;
          if (each === 'acts') machine.act();
          const set = sampleSet('release', generation, `uid-${uid}`);
          if (each === 'told') machine.tell(set);
          const isHeld = holds(machine.seen(), set);
          expect(isHeld && machine.isHolding(set)).toBe(isHeld);
        }
        // And it gets there.
        const last = sampleSet('release', generation, `uid-${uid}`);
        for (let round = 0; round < 3; round += 1) {
          machine.tell(last);
          machine.act();
        }
        expect(holds(machine.seen(), last)).toBe(true);
      }),
    );
  });
});

const event = fc.constantFrom('remade', 'edited', 'told', 'acts');

/** A daemon that executes and reports its assignment, at any later time. */
function createMachine() {
  let told: PinAssignment | null = null;
  let held: AssignedSet | null = null;
  const seen = (): PinNode =>
    samplePinNode('n1', { told, reported: sampleReport(held === null ? {} : { release: held.generation }) });
  return {
    seen,
    tell(set: AssignedSet): void {
      told = assigned([seen()], byName(samplePinPool('worker', [set]))).get('n1') ?? told;
    },
    act(): void {
      held = told?.sets[0] ?? null;
    },
    isHolding: ({ uid, generation }: AssignedSet): boolean => held?.uid === uid && held.generation >= generation,
  };
}

const assignment: fc.Arbitrary<PinAssignment> = fc.record({
  sets: fc
    .uniqueArray(
      fc.record({
        name: fc.stringMatching(/^[a-z0-9]([a-z0-9.-]{0,40}[a-z0-9])?$/),
        uid: fc.uuid(),
        generation: fc.integer({ min: 1, max: 2 ** 31 - 1 }),
      }),
      { selector: ({ name }) => name, maxLength: MAX_SETS },
    )
    .map((sets) => sets.toSorted((a, b) => (a.name < b.name ? -1 : 1))),
  mayPull: fc.boolean(),
  parallel: fc.integer({ min: 1, max: 32 }),
});

const whole: PinAssignment = {
  sets: [
    { name: 'app', uid: 'u1', generation: 3 },
    { name: 'release', uid: 'u2', generation: 1 },
  ],
  mayPull: true,
  parallel: 5,
};
const changed = (change: Readonly<Record<string, unknown>>): string => JSON.stringify({ ...whole, ...change });
const withSet = (change: Readonly<Record<string, unknown>>): string =>
  changed({ sets: [{ ...whole.sets[0], ...change }] });

describe('an encoded assignment', () => {
  it('survives a round trip', () => {
    fc.assert(
      fc.property(assignment, (each) => {
        expect(decodeAssignment(encodeAssignment(each))).toEqual(each);
      }),
    );
  });

  it('fits into an annotation with the most sets of the longest names', () => {
    const sets = Array.from({ length: MAX_SETS }, (_, index) => ({
      name: `${'n'.repeat(250)}${String(index).padStart(3, '0')}`,
      uid: crypto.randomUUID(),
      generation: 2 ** 31 - 1,
    }));
    const text = encodeAssignment({ sets, mayPull: false, parallel: 32 });
    expect(text.length).toBeLessThan(40_000);
    expect(decodeAssignment(text)?.sets).toHaveLength(MAX_SETS);
  });

  it.each([
    ['text', 'pins'],
    ['nothing', 'null'],
    ['a list', '[]'],
    ['a list of one', `[${encodeAssignment(whole)}]`],
    ['a set that is a list', changed({ sets: [[]] })],
    ['no sets', '{"mayPull":true,"parallel":1}'],
    ['sets that are no list', changed({ sets: {} })],
    ['sets in disorder', changed({ sets: whole.sets.toReversed() })],
    ['a set twice', changed({ sets: [whole.sets[0], whole.sets[0]] })],
    ['a name that is a path', withSet({ name: '../nodes' })],
    ['a name that is too long', withSet({ name: 'n'.repeat(254) })],
    ['no uid', withSet({ uid: undefined })],
    ['a uid of any length', withSet({ uid: 'u'.repeat(129) })],
    ['a generation of nothing', withSet({ generation: 0 })],
    ['a generation that is no number', withSet({ generation: '1' })],
    ['a word for a flag', changed({ mayPull: 'yes' })],
    ['no pulls at all', changed({ parallel: 0 })],
    ['too many pulls', changed({ parallel: 33 })],
    [
      'too many sets',
      changed({
        sets: Array.from({ length: 101 }, (_, index) => ({ name: `s${1000 + index}`, uid: 'u', generation: 1 })),
      }),
    ],
    ['more text than is ever read', `${' '.repeat(65 * 1024)}${encodeAssignment(whole)}`],
  ])('is ignored if it is %s', (_, text) => {
    expect(decodeAssignment(text)).toBeNull();
  });
});

const ROLE = 'machineconfiguration.openshift.io/role';
const set = (name: string, ...roles: string[]) => ({
  metadata: { name, labels: Object.fromEntries(roles.map((each) => [ROLE, each])) },
});

interface PoolInput {
  readonly names?: readonly string[];
  readonly added?: readonly string[];
  readonly selector?: MachineConfigPool['spec']['machineConfigSelector'];
}

const worker = ({ names = [], added = [], selector = { matchLabels: { [ROLE]: 'worker' } } }: PoolInput = {}) => ({
  metadata: { name: 'worker', annotations: { [addedImageSetsAnnotation]: encodeAddedSets(added) } },
  spec: { machineConfigSelector: selector, pinnedImageSets: names.map((name) => ({ name })) },
});

describe('the sets that match a pool', () => {
  it.each<[string, PoolInput['selector'], string, boolean]>([
    ['of its role', { matchLabels: { [ROLE]: 'worker' } }, 'worker', true],
    ['not of another role', { matchLabels: { [ROLE]: 'worker' } }, 'master', false],
    [
      'of one of its roles',
      { matchExpressions: [{ key: ROLE, operator: 'In', values: ['worker', 'infra'] }] },
      'infra',
      true,
    ],
    ['none if its selector is empty', {}, 'worker', false],
    ['none if a selector is invalid', { matchExpressions: [{ key: ROLE, operator: 'Is' }] }, 'worker', false],
  ])('%s', (_, selector, of, takes) => {
    expect(takesSet(worker({ selector }), set('a', of))).toBe(takes);
  });

  it('none without a selector', () => {
    const pool = { metadata: { name: 'worker' }, spec: {} };
    expect(takesSet(pool, set('a', 'worker'))).toBe(false);
  });
});

describe('spec.pinnedImageSets', () => {
  it('gets the matching sets', () => {
    expect(nextPoolSets(worker(), [set('b', 'worker'), set('a', 'worker'), set('c', 'master')])).toStrictEqual({
      names: ['a', 'b'],
      added: ['a', 'b'],
      leftOut: [],
    });
  });

  it('loses an added set that no longer matches, and keeps what a user added', () => {
    const pool = worker({ names: ['mine', 'gone', 'a'], added: ['gone', 'a'] });
    expect(nextPoolSets(pool, [set('a', 'worker')])).toStrictEqual({ names: ['mine', 'a'], added: ['a'], leftOut: [] });
  });

  it('keeps what a user added, whether or not it matches', () => {
    const pool = worker({ names: ['a'] });
    const matching = nextPoolSets(pool, [set('a', 'worker')]);
    expect(matching).toStrictEqual({ names: ['a'], added: [], leftOut: [] });
    expect(nextPoolSets(pool, [])).toStrictEqual(matching);
  });

  it('keeps everything if the record of added sets is unreadable', () => {
    const pool = worker({ names: ['a', 'b'] });
    pool.metadata.annotations[addedImageSetsAnnotation] = '{"a"';
    expect(nextPoolSets(pool, [])).toMatchObject({ names: ['a', 'b'], added: [] });
    pool.metadata.annotations[addedImageSetsAnnotation] = '{"a":1}';
    expect(readAddedSets(pool)).toStrictEqual([]);
  });

  it('has at most a hundred, the user’s first, and reports which are ignored', () => {
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

  it('settles after one step, never drops a user’s set, and records what it added', () => {
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
        // With every set gone, only the user's entries are left.
        expect(nextPoolSets(worker(first), []).names).toEqual(own);
      }),
    );
  });
});
