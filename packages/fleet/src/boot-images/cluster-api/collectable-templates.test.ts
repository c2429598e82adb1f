import { describe, expect, it } from 'vitest';
import { collectableTemplates, GRACE_MS, type KeptTemplate } from './collectable-templates.ts';
import { replacementNote } from './replacement-note.ts';

const now = Date.parse('2026-05-01T12:00:00Z');
const at = (age: number): string => new Date(now - age).toISOString();
const kind = 'GCPMachineTemplate';
const ours = { 'app.kubernetes.io/managed-by': 'slipway' };

const templateOf = (name: string, metadata: Partial<KeptTemplate['metadata']> = {}): KeptTemplate => ({
  kind,
  metadata: { name, namespace: 'capi', labels: ours, creationTimestamp: at(GRACE_MS), ...metadata },
});

describe('an old template', () => {
  it.each<[string, KeptTemplate, boolean]>([
    ['goes where nobody refers to it', templateOf('a'), true],
    ['stays where somebody does', templateOf('used'), false],
    ['stays where it is not ours', templateOf('a', { labels: {} }), false],
    [
      'stays where another tool keeps it',
      templateOf('a', { labels: { 'app.kubernetes.io/managed-by': 'Helm' } }),
      false,
    ],
    [
      'stays while it is young: a reference may be on its way',
      templateOf('a', { creationTimestamp: at(GRACE_MS - 1000) }),
      false,
    ],
    ['stays where its age is not known', templateOf('a', { creationTimestamp: undefined }), false],
    ['is left alone where it goes already', templateOf('a', { deletionTimestamp: at(0) }), false],
    ['is another in another namespace', templateOf('used', { namespace: 'other' }), true],
    ['is another of another kind', { ...templateOf('used'), kind: 'AWSMachineTemplate' }, true],
  ])('%s', (_, template, goes) => {
    const references = [{ kind, namespace: 'capi', name: 'used' }];
    expect(collectableTemplates([template], references, now)).toEqual(goes ? [template] : []);
  });
});

describe('another template means for machines that are there', () => {
  it.each([
    ['MachineSet', {}, ''],
    ['MachineDeployment', {}, /RollingUpdate/],
    ['MachineDeployment', { strategy: { type: 'RollingUpdate' } }, /are replaced/],
    ['MachineDeployment', { strategy: { type: 'OnDelete' } }, /OnDelete/],
    ['MachineDeployment', { rollout: { strategy: { type: 'OnDelete' } } }, /OnDelete/],
    ['MachineDeployment', { paused: true }, /paused/],
  ] as const)('of a %s with %j: %s', (kind, spec, note) => {
    expect(replacementNote(kind, spec)).toMatch(note === '' ? /^$/ : note);
  });
});
