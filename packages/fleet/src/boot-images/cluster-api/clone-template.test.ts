import { clonedFromAnnotation } from '@slipway/api';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { machineTemplateOf, templateCases } from '../testing/machine-templates.ts';
import type { JsonObject } from '../verdict.ts';
import { cloneTemplate, isSameClone, type MachineTemplate, templateDigestAnnotation } from './clone-template.ts';

const [first] = templateCases;
if (first === undefined) throw new Error('no case');
const template = machineTemplateOf(first);
const spec: JsonObject = { ...first.spec, ami: { id: 'ami-new' } };
const withMetadata = (metadata: Partial<MachineTemplate['metadata']>): MachineTemplate => ({
  ...template,
  metadata: { ...template.metadata, ...metadata },
});

describe('the clone of a template', () => {
  const clone = cloneTemplate(template, spec);

  it('is the template with another spec, and ours', () => {
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
          [templateDigestAnnotation]: expect.stringMatching(/^[0-9a-f]{64}$/),
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
  ])('has no %s of another: a tool would take it for its own', (name) => {
    const { metadata } = cloneTemplate(withMetadata({ labels: { [name]: 'x' }, annotations: { [name]: 'x' } }), spec);
    expect(metadata.labels?.[name]).not.toBe('x');
    expect(metadata.annotations).not.toHaveProperty([name]);
  });

  it('belongs to the Cluster and to nobody else', () => {
    const other = { apiVersion: 'example.com/v1', kind: 'Cluster', name: 'a', uid: 'a' };
    const topology = { apiVersion: 'cluster.x-k8s.io/v1beta1', kind: 'MachineSet', name: 'a', uid: 'b' };
    expect(cloneTemplate(withMetadata({ ownerReferences: [other, topology] }), spec).metadata).not.toHaveProperty(
      'ownerReferences',
    );
  });

  it('of a clone is named after the first, so that names do not grow', () => {
    const next = cloneTemplate(clone, { ...spec, ami: { id: 'ami-next' } });
    expect(next.metadata.name).toMatch(/^capi-aws-[0-9a-f]{8}$/);
    expect(next.metadata.name).not.toBe(clone.metadata.name);
    expect(next.metadata.annotations?.[clonedFromAnnotation]).toBe('capi-aws');
  });

  it('of a template that only says it is a clone is named after that template', () => {
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
  const nameOf = (spec: JsonObject, metadata: Partial<MachineTemplate['metadata']> = {}): string =>
    cloneTemplate(withMetadata(metadata), spec).metadata.name;

  it('depends on nothing but the content', () => {
    fc.assert(
      fc.property(content, label, label, (spec, labels, annotations) => {
        expect(nameOf(spec, { labels, annotations })).toBe(nameOf(spec));
        const turned = Object.fromEntries(Object.entries(spec).toReversed());
        expect(nameOf(turned)).toBe(nameOf(spec));
      }),
    );
  });

  it('is another for other content', () => {
    fc.assert(
      fc.property(content, (spec) => {
        expect(nameOf({ ...spec, image: 'a' })).not.toBe(nameOf({ ...spec, image: 'b' }));
      }),
    );
  });

  it('is a name, however long that of the template is', () => {
    const long = fc.stringMatching(/^[a-z0-9][-.a-z0-9]{0,251}$/).filter((name) => /[a-z0-9]$/.test(name));
    fc.assert(
      fc.property(fc.oneof(long, fc.constant('a'.repeat(253)), fc.constant(`${'a'.repeat(243)}-.-bcdefgh`)), (name) => {
        const made = nameOf({}, { name });
        expect(made.length).toBeLessThanOrEqual(253);
        expect(made).toMatch(/^[a-z0-9]([-.a-z0-9]*[a-z0-9])?-[0-9a-f]{8}$/);
      }),
    );
  });
});

describe('what is there under the name of a clone', () => {
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
    ['somebody’s own', withMetadata({ name: clone.metadata.name }), false],
    ['ours, from other content', cloneTemplate(template, first.spec), false],
  ])('%s', (_, existing, expected) => {
    expect(isSameClone(existing, clone)).toBe(expected);
  });

  it('may lack what a server drops', () => {
    const withNull = cloneTemplate(template, { ...spec, labels: null });
    const kept = { ...withNull, spec: { template: { metadata: { labels: { tier: 'compute' } }, spec } } };
    expect(isSameClone(kept, withNull)).toBe(true);
  });
});
