import { describe, expect, it } from 'vitest';
import { readProviderSpec, withUserDataSecret } from './machine-api-spec.ts';
import { imageCases } from './testing/image-cases.ts';
import { awsSpec, baremetalImageSpec, gcpSpec, libvirtSpec } from './testing/provider-specs.ts';
import { platforms, type Json } from './verdict.ts';

describe('a provider spec', () => {
  it.each(platforms)('of %s is read as installers write it, under its old group too', (platform) => {
    const specs = imageCases.filter((each) => each.platform === platform).map(({ spec }) => spec);
    expect(specs.map((spec) => readProviderSpec(platform, spec).ok)).toEqual(specs.map(() => true));
  });

  it.each<[string, Json | undefined, string]>([
    ['that is not there', undefined, 'value: expected a AWSMachineProviderConfig, found nothing'],
    ['that is a text', 'aws', 'found "aws"'],
    [
      'of another platform',
      gcpSpec,
      'value.kind: expected AWSMachineProviderConfig, that of platform aws, found "GCPMachineProviderSpec"',
    ],
    [
      'of a kind nobody knows',
      { ...awsSpec, kind: 'AWSMachineProviderConfigV2' },
      'found "AWSMachineProviderConfigV2"',
    ],
    [
      'without a kind',
      { apiVersion: 'machine.openshift.io/v1beta1' },
      'value.kind: expected AWSMachineProviderConfig, that of platform aws, found nothing',
    ],
    [
      'of a version nobody knows',
      { ...awsSpec, apiVersion: 'machine.openshift.io/v2' },
      'value.apiVersion: expected machine.openshift.io/v1beta1 or awsproviderconfig.openshift.io/v1beta1, found "machine.openshift.io/v2"',
    ],
    [
      'of the group of another platform',
      { ...awsSpec, apiVersion: 'gcpprovider.openshift.io/v1beta1' },
      'value.apiVersion',
    ],
    [
      'whose user data is no name',
      { ...awsSpec, userDataSecret: { name: 7 } },
      'value.userDataSecret.name: expected the name of a Secret, found 7',
    ],
  ])('%s is refused', (_, value, message) => {
    expect(readProviderSpec('aws', value)).toEqual({
      ok: false,
      code: 'SLW_BOOT_IMAGES_SPEC',
      message: expect.stringContaining(message),
    });
  });
});

describe('user data', () => {
  it.each([
    ['aws', awsSpec, { ...awsSpec, userDataSecret: { name: 'other' } }],
    ['baremetal', baremetalImageSpec, { ...baremetalImageSpec, userData: { name: 'other' } }],
    ['libvirt', libvirtSpec, { ...libvirtSpec, ignition: { userDataSecret: 'other' } }],
  ] as const)('of %s is found and changed where the platform has it, and nothing else is', (platform, spec, after) => {
    expect(readProviderSpec(platform, spec)).toMatchObject({ ok: true, userDataSecret: 'worker-user-data' });
    expect(JSON.stringify(withUserDataSecret(platform, spec, 'other'))).toBe(JSON.stringify(after));
    expect(readProviderSpec(platform, withUserDataSecret(platform, spec, 'other'))).toMatchObject({
      userDataSecret: 'other',
    });
  });

  it('may be missing', () => {
    const { userDataSecret: _, ...spec } = awsSpec;
    expect(readProviderSpec('aws', spec)).toMatchObject({ ok: true, userDataSecret: '' });
  });
});
