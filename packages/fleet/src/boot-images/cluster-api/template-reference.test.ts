import { describe, expect, it } from 'vitest';
import type { Json } from '../verdict.ts';
import { templateReference, templateVersion } from './template-reference.ts';

const group = 'infrastructure.cluster.x-k8s.io';
const resource = { namespace: 'capi' };
const specOf = (infrastructureRef: Json, bootstrap: Json = { dataSecretName: 'worker-user-data' }): Json => ({
  clusterName: 'demo',
  template: { spec: { bootstrap, clusterName: 'demo', infrastructureRef } },
});
const reference = { kind: 'GCPMachineTemplate', name: 'demo-a', namespace: 'capi' } as const;

describe('the template of machines', () => {
  it.each<[string, Json, string | null]>([
    ['in v1beta1', { apiVersion: `${group}/v1beta1`, ...reference }, 'v1beta1'],
    [
      'in v1beta1 without a namespace',
      { apiVersion: `${group}/v1beta1`, kind: reference.kind, name: reference.name },
      'v1beta1',
    ],
    ['in v1beta2', { apiGroup: group, kind: reference.kind, name: reference.name }, null],
  ])('is found %s', (_, found, version) => {
    expect(templateReference(resource, specOf(found))).toEqual({
      ok: true,
      reference: { ...reference, version },
      dataSecretName: 'worker-user-data',
    });
  });

  it('may leave user data to a bootstrap provider', () => {
    const found = { apiGroup: group, kind: reference.kind, name: reference.name };
    const read = templateReference(
      resource,
      specOf(found, { configRef: { kind: 'KubeadmConfigTemplate', name: 'a' } }),
    );
    expect(read).toMatchObject({ ok: true, dataSecretName: '' });
  });

  it.each<[string, Json | undefined, RegExp]>([
    ['nothing', undefined, /infrastructureRef: expected a reference/],
    ['no reference', specOf(null), /found null/],
    ['no group', specOf({ kind: 'GCPMachineTemplate', name: 'a' }), /expected a template of infrastructure/],
    [
      'another group',
      specOf({ apiVersion: 'example.com/v1', kind: 'GCPMachineTemplate', name: 'a' }),
      /expected a template of/,
    ],
    [
      'a kind that we do not know',
      specOf({ apiGroup: group, kind: 'OwnMachineTemplate', name: 'a' }),
      /kind: expected one of AWSMachineTemplate.*found "OwnMachineTemplate"/,
    ],
    [
      'no name',
      specOf({ apiGroup: group, kind: 'GCPMachineTemplate' }),
      /name: expected the name of a template, found nothing/,
    ],
    [
      'a name that leads elsewhere',
      specOf({ apiGroup: group, kind: 'GCPMachineTemplate', name: '../a' }),
      /name: expected/,
    ],
    [
      'another namespace',
      specOf({ apiVersion: `${group}/v1beta1`, kind: 'GCPMachineTemplate', name: 'a', namespace: 'b' }),
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
    ['what the reference says', 'VSphereMachineTemplate', 'v1beta1', labels('v1beta2', 'v1beta1'), 'v1beta1'],
    ['what the reference says, where no label does', 'VSphereMachineTemplate', 'v1beta1', {}, 'v1beta1'],
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
