import { nodeAnnotations, nodes } from '@slipway/api';
import { isEqual } from '@slipway/base/equal';
import type { KubeObject, Stored } from '@slipway/kube';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { referringSources } from './references.ts';

const { currentConfig, desiredConfig, state } = nodeAnnotations;
const [before, after] = [`rendered-worker-${'1'.repeat(32)}`, `rendered-worker-${'2'.repeat(32)}`];
const object = (annotations: Record<string, string>): Stored<KubeObject> => ({
  metadata: { name: 'a', uid: 'a', resourceVersion: '1', annotations },
});
const ofNodes = referringSources.find(({ resource }) => resource === nodes);
const ofMachineSets = referringSources.find(({ resource }) => resource.kind === 'MachineSet');

describe('an update of an object that refers to rendered configs', () => {
  const node = object({ [currentConfig]: before, [desiredConfig]: before, [state]: 'Done' });

  it.each<[string, Record<string, string>, boolean]>([
    ['to another desired config', { [currentConfig]: before, [desiredConfig]: after, [state]: 'Done' }, true],
    ['to no config', {}, true],
    ['of its state', { [currentConfig]: before, [desiredConfig]: before, [state]: 'Working' }, false],
  ])('of a Node %s matters: %s', (_what, annotations, matters) => {
    expect(ofNodes?.concerns?.(node, object(annotations))).toBe(matters);
  });

  it.each<[string, Record<string, string>, boolean]>([
    ['to another config', { 'example.io/config': after }, true],
    ['of something else', { 'example.io/config': before, note: 'x' }, false],
  ])('of a MachineSet %s matters: %s', (_what, annotations, matters) => {
    expect(ofMachineSets?.concerns?.(object({ 'example.io/config': before }), object(annotations))).toBe(matters);
  });

  it('matters if it changes which configs the object names, or their pools', () => {
    const keys = fc.constantFrom(currentConfig, desiredConfig, state, 'example.io/config');
    const objects = fc.dictionary(keys, fc.constantFrom('', 'x', before, after)).map(object);
    const read = () => expect.fail('reads no store');
    fc.assert(
      fc.property(objects, objects, fc.constantFrom(...referringSources), (old, next, source) => {
        const say = (each: Stored<KubeObject>) => [
          [...(source.keysOf?.(each, read) ?? [])].sort(),
          Object.values(source.indexes ?? {}).map((valuesOf) => [...valuesOf(each)].sort()),
        ];
        const isSame = isEqual(say(next), say(old));
        expect(isSame || source.concerns?.(old, next)).toBe(true);
      }),
    );
  });
});
