import { nodeAnnotations, nodes } from '@slipway/api';
import type { KubeObject, Stored } from '@slipway/kube';
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
});
