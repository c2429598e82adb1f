import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assignSets, setsOf } from './assign.ts';
import type { AssignedSet, PinAssignment } from './assignment.ts';
import { holds, type PinNode } from './pin-facts.ts';
import { byName, samplePinNode, samplePinPool, sampleReport, sampleSet, sampleTold } from './sample.ts';

const app = sampleSet('app');
const release = sampleSet('release', 3);
const pools = byName(samplePinPool('worker', [release]), samplePinPool('infra', [app, release]));
const assigned = (nodes: readonly PinNode[], of = pools) => assignSets(nodes, of, 0).changed;

describe('what a machine is told', () => {
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

  it('is nothing where nothing has changed', () => {
    expect(assigned([samplePinNode('n1', { told: sampleTold([release]) })]).size).toBe(0);
    expect(assigned([samplePinNode('n1', { pools: [], told: sampleTold([]) })]).size).toBe(0);
  });

  it('is said also where there is nothing to hold: from then on it tells how much room it has', () => {
    expect(assigned([samplePinNode('n1', { pools: [] })]).get('n1')?.sets).toEqual([]);
  });

  it('is to let go what it was told of, when no pool has it any more', () => {
    expect(assigned([samplePinNode('n1', { pools: [], told: sampleTold([release]) })]).get('n1')?.sets).toEqual([]);
  });

  it('follows the generation of a set', () => {
    const told = sampleTold([sampleSet('release', 2)]);
    const reported = sampleReport({ release: 2 });
    expect(assigned([samplePinNode('n1', { told, reported })]).get('n1')?.sets).toEqual([release]);
  });

  it('is first to let go the old one, where a set was deleted and made again', () => {
    const told = sampleTold([sampleSet('release', 3, 'the-old-one')]);
    const reported = sampleReport({ release: 3 });
    const first = assigned([samplePinNode('n1', { told, reported })]).get('n1');
    expect(first?.sets).toEqual([]);
    // As long as it has not done so, nothing changes.
    expect(assigned([samplePinNode('n1', { told: first ?? null, reported })]).size).toBe(0);
    expect(assigned([samplePinNode('n1', { told: first ?? null })]).get('n1')?.sets).toEqual([release]);
  });

  it('is first to let go what it reports and was never told of by us', () => {
    expect(assigned([samplePinNode('n1', { reported: sampleReport({ release: 3 }) })]).get('n1')?.sets).toEqual([]);
  });

  it('is at most a hundred sets', () => {
    const many = (prefix: string) => Array.from({ length: 80 }, (_, index) => sampleSet(`${prefix}${100 + index}`));
    const crowded = byName(samplePinPool('worker', many('w')), samplePinPool('infra', many('i')));
    const node = samplePinNode('n1', { pools: ['worker', 'infra'] });
    expect(assigned([node], crowded).get('n1')?.sets).toHaveLength(100);
    expect(setsOf(node, crowded).leftOut).toBe(60);
  });

  it('never lets a set count as held that is another than the one whose images are there', () => {
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

/** A daemon that does and reports what it was told, whenever it comes to it. */
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
