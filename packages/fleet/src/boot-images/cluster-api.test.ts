import { clonedFromAnnotation } from '@slipway/api';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  cloneTemplate,
  collectableTemplates,
  GRACE_MS,
  isSameClone,
  type KeptTemplate,
  type MachineTemplate,
  replacementNote,
  TEMPLATE_DIGEST_ANNOTATION,
  templateReference,
  templateVersion,
} from './cluster-api.ts';
import { buildMachineTemplate, templateCases } from './testing/machine-templates.ts';
import type { Json, JsonObject } from './json.ts';

const GROUP = 'infrastructure.cluster.x-k8s.io';
const resource = { namespace: 'capi' };
const buildSpec = (infrastructureRef: Json, bootstrap: Json = { dataSecretName: 'worker-user-data' }): Json => ({
  clusterName: 'demo',
  template: { spec: { bootstrap, clusterName: 'demo', infrastructureRef } },
});
const reference = { kind: 'GCPMachineTemplate', name: 'demo-a', namespace: 'capi' } as const;

describe('the template of machines', () => {
  it.each<[string, Json, string | null]>([
    ['in v1beta1', { apiVersion: `${GROUP}/v1beta1`, ...reference }, 'v1beta1'],
    [
      'in v1beta1 without a namespace',
      { apiVersion: `${GROUP}/v1beta1`, kind: reference.kind, name: reference.name },
      'v1beta1',
    ],
    ['in v1beta2', { apiGroup: GROUP, kind: reference.kind, name: reference.name }, null],
  ])('is found %s', (_, found, version) => {
    expect(templateReference(resource, buildSpec(found))).toEqual({
      ok: true,
      reference: { ...reference, version },
      dataSecretName: 'worker-user-data',
    });
  });

  it('may leave user data to a bootstrap provider', () => {
    const found = { apiGroup: GROUP, kind: reference.kind, name: reference.name };
    const read = templateReference(
      resource,
      buildSpec(found, { configRef: { kind: 'KubeadmConfigTemplate', name: 'a' } }),
    );
    expect(read).toMatchObject({ ok: true, dataSecretName: '' });
  });

  it.each<[string, Json | undefined, RegExp]>([
    ['nothing', undefined, /infrastructureRef: expected a reference/],
    ['no reference', buildSpec(null), /found null/],
    ['no group', buildSpec({ kind: 'GCPMachineTemplate', name: 'a' }), /expected a template of infrastructure/],
    [
      'another group',
      buildSpec({ apiVersion: 'example.com/v1', kind: 'GCPMachineTemplate', name: 'a' }),
      /expected a template of/,
    ],
    [
      'a kind that we do not know',
      buildSpec({ apiGroup: GROUP, kind: 'OwnMachineTemplate', name: 'a' }),
      /kind: expected one of .*AWSMachineTemplate.*found "OwnMachineTemplate"/,
    ],
    [
      'no name',
      buildSpec({ apiGroup: GROUP, kind: 'GCPMachineTemplate' }),
      /name: expected the name of a template, found nothing/,
    ],
    [
      'a name that leads elsewhere',
      buildSpec({ apiGroup: GROUP, kind: 'GCPMachineTemplate', name: '../a' }),
      /name: expected/,
    ],
    [
      'another namespace',
      buildSpec({ apiVersion: `${GROUP}/v1beta1`, kind: 'GCPMachineTemplate', name: 'a', namespace: 'b' }),
      /namespace: expected capi, found "b"/,
    ],
  ])('cannot be: %s', (_, spec, message) => {
    expect(templateReference(resource, spec)).toMatchObject({
      ok: false,
      code: 'SLW_BOOT_IMAGES_SPEC',
      message: expect.stringMatching(message),
    });
  });
});

describe('the version of a template', () => {
  const labels = (v1beta2?: string, v1beta1?: string): Record<string, string> => ({
    ...(v1beta2 !== undefined && { 'cluster.x-k8s.io/v1beta2': v1beta2 }),
    ...(v1beta1 !== undefined && { 'cluster.x-k8s.io/v1beta1': v1beta1 }),
  });
  it.each([
    ['the version of the reference', 'VSphereMachineTemplate', 'v1beta1', labels('v1beta2', 'v1beta1'), 'v1beta1'],
    ['the version of the reference, if no label has one', 'VSphereMachineTemplate', 'v1beta1', {}, 'v1beta1'],
    ['the newest', 'VSphereMachineTemplate', null, labels('v1beta2', 'v1beta1'), 'v1beta2'],
    ['the newest of several', 'VSphereMachineTemplate', null, labels(undefined, 'v1beta1_v1beta2'), 'v1beta2'],
    ['the newest that we can read', 'GCPMachineTemplate', null, labels('v1beta1_v1beta2_v1'), 'v1beta1'],
    [
      'a newer one than a provider has left behind',
      'AWSMachineTemplate',
      'v1beta1',
      labels(undefined, 'v1beta2'),
      'v1beta2',
    ],
    ['none that we can read', 'GCPMachineTemplate', null, labels('v1'), null],
    ['none', 'GCPMachineTemplate', null, {}, null],
  ] as const)('is %s', (_, kind, version, crdLabels, expected) => {
    expect(templateVersion({ kind, namespace: 'capi', name: 'a', version }, crdLabels)).toBe(expected);
  });
});

const first = templateCases.find(({ name }) => name === 'capi-aws');
if (first === undefined) throw new Error('no case');
const template = buildMachineTemplate(first);
const spec: JsonObject = { ...first.spec, ami: { id: 'ami-new' } };
const withMetadata = (metadata: Partial<MachineTemplate['metadata']>): MachineTemplate => ({
  ...template,
  metadata: { ...template.metadata, ...metadata },
});

describe('the clone of a template', () => {
  const clone = cloneTemplate(template, spec);

  it('is the template with another spec and our label', () => {
    expect(clone).toEqual({
      apiVersion: template.apiVersion,
      kind: template.kind,
      metadata: {
        name: expect.stringMatching(/^capi-aws-[0-9a-f]{8}$/),
        namespace: 'openshift-cluster-api',
        labels: { 'cluster.x-k8s.io/cluster-name': 'demo-x7k2p', 'app.kubernetes.io/managed-by': 'slipway' },
        annotations: {
          'example.com/team': 'a',
          [clonedFromAnnotation]: 'capi-aws',
          [TEMPLATE_DIGEST_ANNOTATION]: expect.stringMatching(/^[0-9a-f]{64}$/),
        },
        ownerReferences: template.metadata.ownerReferences,
      },
      spec: { template: { metadata: { labels: { tier: 'compute' } }, spec } },
    });
  });

  it.each([
    ['argocd.argoproj.io/tracking-id'],
    ['argocd.argoproj.io/sync-wave'],
    ['kustomize.toolkit.fluxcd.io/name'],
    ['meta.helm.sh/release-name'],
    ['helm.sh/chart'],
    ['kubectl.kubernetes.io/last-applied-configuration'],
    ['app.kubernetes.io/instance'],
    ['app.kubernetes.io/managed-by'],
    ['slipway.dev/boot-image'],
  ])('drops %s: a tool would adopt the clone', (name) => {
    const { metadata } = cloneTemplate(withMetadata({ labels: { [name]: 'x' }, annotations: { [name]: 'x' } }), spec);
    expect(metadata.labels?.[name]).not.toBe('x');
    expect(metadata.annotations).not.toHaveProperty([name]);
  });

  it('is owned by the Cluster alone', () => {
    const other = { apiVersion: 'example.com/v1', kind: 'Cluster', name: 'a', uid: 'a' };
    const topology = { apiVersion: 'cluster.x-k8s.io/v1beta1', kind: 'MachineSet', name: 'a', uid: 'b' };
    expect(cloneTemplate(withMetadata({ ownerReferences: [other, topology] }), spec).metadata).not.toHaveProperty(
      'ownerReferences',
    );
  });

  it('of a clone is named after the first original, so that names do not grow', () => {
    const next = cloneTemplate(clone, { ...spec, ami: { id: 'ami-next' } });
    expect(next.metadata.name).toMatch(/^capi-aws-[0-9a-f]{8}$/);
    expect(next.metadata.name).not.toBe(clone.metadata.name);
    expect(next.metadata.annotations?.[clonedFromAnnotation]).toBe('capi-aws');
  });

  it('of a template that only claims to be a clone is named after that template', () => {
    const claims = withMetadata({ annotations: { [clonedFromAnnotation]: 'other' } });
    expect(cloneTemplate(claims, spec).metadata.name).toMatch(/^capi-aws-/);
    const broken = withMetadata({
      labels: { 'app.kubernetes.io/managed-by': 'slipway' },
      annotations: { [clonedFromAnnotation]: '../x' },
    });
    expect(cloneTemplate(broken, spec).metadata.name).toMatch(/^capi-aws-/);
  });
});

describe('its name', () => {
  const label = fc.dictionary(fc.stringMatching(/^[a-z]{1,9}$/), fc.stringMatching(/^[a-z]{0,9}$/), { maxKeys: 3 });
  const content = fc
    .dictionary(fc.stringMatching(/^[a-z]{1,9}$/), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 4 })
    .map((each): JsonObject => JSON.parse(JSON.stringify(each)));
  const computeCloneName = (spec: JsonObject, metadata: Partial<MachineTemplate['metadata']> = {}): string =>
    cloneTemplate(withMetadata(metadata), spec).metadata.name;

  it('depends on nothing but the content', () => {
    fc.assert(
      fc.property(content, label, label, (spec, labels, annotations) => {
        expect(computeCloneName(spec, { labels, annotations })).toBe(computeCloneName(spec));
        const turned = Object.fromEntries(Object.entries(spec).toReversed());
        expect(computeCloneName(turned)).toBe(computeCloneName(spec));
      }),
    );
  });

  it('is another for other content', () => {
    fc.assert(
      fc.property(content, (spec) => {
        expect(computeCloneName({ ...spec, image: 'a' })).not.toBe(computeCloneName({ ...spec, image: 'b' }));
      }),
    );
  });

  it('is a name, however long that of the template is', () => {
    const long = fc.stringMatching(/^[a-z0-9][-.a-z0-9]{0,251}$/).filter((name) => /[a-z0-9]$/.test(name));
    fc.assert(
      fc.property(fc.oneof(long, fc.constant('a'.repeat(253)), fc.constant(`${'a'.repeat(243)}-.-bcdefgh`)), (name) => {
        const made = computeCloneName({}, { name });
        expect(made.length).toBeLessThanOrEqual(253);
        expect(made).toMatch(/^[a-z0-9]([-.a-z0-9]*[a-z0-9])?-[0-9a-f]{8}$/);
      }),
    );
  });
});

describe('an existing object with the name of a clone', () => {
  const clone = cloneTemplate(template, spec);
  const stored = (change: (clone: MachineTemplate) => MachineTemplate): MachineTemplate =>
    change(structuredClone(clone));
  it.each<[string, MachineTemplate, boolean]>([
    ['the same', stored((each) => each), true],
    [
      'with defaults of the server',
      stored((each) => ({
        ...each,
        spec: {
          ...each.spec,
          template: { metadata: { labels: { tier: 'compute' } }, spec: { ...spec, tenancy: 'default' } },
        },
      })),
      true,
    ],
    [
      'with another label',
      stored((each) => ({ ...each, metadata: { ...each.metadata, labels: { ...each.metadata.labels, more: 'x' } } })),
      true,
    ],
    [
      'changed',
      stored((each) => ({ ...each, spec: { template: { spec: { ...spec, ami: { id: 'ami-other' } } } } })),
      false,
    ],
    ['a user’s template', withMetadata({ name: clone.metadata.name }), false],
    ['ours, with other content', cloneTemplate(template, first.spec), false],
  ])('%s', (_, existing, expected) => {
    expect(isSameClone(existing, clone)).toBe(expected);
  });

  it('may lack what a server drops', () => {
    const withNull = cloneTemplate(template, { ...spec, labels: null });
    const kept = { ...withNull, spec: { template: { metadata: { labels: { tier: 'compute' } }, spec } } };
    expect(isSameClone(kept, withNull)).toBe(true);
  });
});

const now = Date.parse('2026-05-01T12:00:00Z');
const at = (age: number): string => new Date(now - age).toISOString();
const KIND = 'GCPMachineTemplate';
const ours = { 'app.kubernetes.io/managed-by': 'slipway' };

const buildTemplate = (name: string, metadata: Partial<KeptTemplate['metadata']> = {}): KeptTemplate => ({
  kind: KIND,
  metadata: { name, namespace: 'capi', labels: ours, creationTimestamp: at(GRACE_MS), ...metadata },
});

describe('an old template', () => {
  it.each<[string, KeptTemplate, boolean]>([
    ['is deleted if unreferenced', buildTemplate('a'), true],
    ['stays if referenced', buildTemplate('used'), false],
    ['stays if we did not create it', buildTemplate('a', { labels: {} }), false],
    [
      'stays if another tool manages it',
      buildTemplate('a', { labels: { 'app.kubernetes.io/managed-by': 'Helm' } }),
      false,
    ],
    [
      'stays while it is young: a reference may be on its way',
      buildTemplate('a', { creationTimestamp: at(GRACE_MS - 1000) }),
      false,
    ],
    ['stays if its age is unknown', buildTemplate('a', { creationTimestamp: undefined }), false],
    ['is ignored if it is already being deleted', buildTemplate('a', { deletionTimestamp: at(0) }), false],
    ['is another in another namespace', buildTemplate('used', { namespace: 'other' }), true],
    ['is another of another kind', { ...buildTemplate('used'), kind: 'AWSMachineTemplate' }, true],
  ])('%s', (_, template, goes) => {
    const references = [{ kind: KIND, namespace: 'capi', name: 'used' }];
    expect(collectableTemplates([template], references, now)).toEqual(goes ? [template] : []);
  });
});

describe('what another template means for existing machines', () => {
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
