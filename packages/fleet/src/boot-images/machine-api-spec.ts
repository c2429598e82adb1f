// Where a MachineSet of the Machine API has what its platform needs: kind, user data and all else are in a field without a
// schema, in the form of each platform.
import { fieldAt, isJsonObject, shown, textAt, withField } from './json-path.ts';
import type { Json, JsonObject, Platform } from './verdict.ts';

/** The providerSpec below a MachineSet, as a JSON pointer. */
export const providerSpecPointer = '/spec/template/spec/providerSpec/value';

interface SpecForm {
  readonly kind: string;
  /** The last is what new clusters have, those before it are of the time when each provider had its own group. */
  readonly apiVersions: readonly string[];
  readonly userData: readonly [string, ...string[]];
}

const secretName = ['userDataSecret', 'name'] as const;

const forms: Record<Platform, SpecForm> = {
  aws: {
    kind: 'AWSMachineProviderConfig',
    apiVersions: ['awsproviderconfig.openshift.io/v1beta1', 'machine.openshift.io/v1beta1'],
    userData: secretName,
  },
  gcp: {
    kind: 'GCPMachineProviderSpec',
    apiVersions: ['gcpprovider.openshift.io/v1beta1', 'machine.openshift.io/v1beta1'],
    userData: secretName,
  },
  azure: {
    kind: 'AzureMachineProviderSpec',
    apiVersions: ['azureproviderconfig.openshift.io/v1beta1', 'machine.openshift.io/v1beta1'],
    userData: secretName,
  },
  vsphere: {
    kind: 'VSphereMachineProviderSpec',
    apiVersions: ['vsphereprovider.openshift.io/v1beta1', 'machine.openshift.io/v1beta1'],
    userData: secretName,
  },
  nutanix: { kind: 'NutanixMachineProviderConfig', apiVersions: ['machine.openshift.io/v1'], userData: secretName },
  powervs: { kind: 'PowerVSMachineProviderConfig', apiVersions: ['machine.openshift.io/v1'], userData: secretName },
  alibabacloud: {
    kind: 'AlibabaCloudMachineProviderConfig',
    apiVersions: ['machine.openshift.io/v1'],
    userData: secretName,
  },
  openstack: {
    kind: 'OpenstackProviderSpec',
    apiVersions: ['openstackproviderconfig.openshift.io/v1alpha1', 'machine.openshift.io/v1alpha1'],
    userData: secretName,
  },
  baremetal: {
    kind: 'BareMetalMachineProviderSpec',
    apiVersions: ['baremetal.cluster.k8s.io/v1alpha1'],
    userData: ['userData', 'name'],
  },
  libvirt: {
    kind: 'LibvirtMachineProviderConfig',
    apiVersions: ['libvirtproviderconfig.openshift.io/v1beta1'],
    userData: ['ignition', 'userDataSecret'],
  },
  ovirt: {
    kind: 'OvirtMachineProviderSpec',
    apiVersions: ['ovirtproviderconfig.machine.openshift.io/v1beta1'],
    userData: secretName,
  },
  ibmcloud: {
    kind: 'IBMCloudMachineProviderSpec',
    apiVersions: ['ibmcloudproviderconfig.openshift.io/v1beta1'],
    userData: secretName,
  },
};

export type ReadProviderSpec =
  | {
      readonly ok: true;
      readonly spec: JsonObject;
      /** Name of the Secret that machines have their user data from; '': they have none. */
      readonly userDataSecret: string;
    }
  | { readonly ok: false; readonly code: 'SLW_BOOT_IMAGES_SPEC'; readonly message: string };

/** `value`: spec.template.spec.providerSpec.value of the MachineSet. */
export function readProviderSpec(platform: Platform, value: Json | undefined): ReadProviderSpec {
  const form = forms[platform];
  const path = 'spec.template.spec.providerSpec.value';
  if (!isJsonObject(value)) return refused(path, `a ${form.kind}`, value);
  if (value['kind'] !== form.kind) {
    return refused(`${path}.kind`, `${form.kind}, that of platform ${platform}`, value['kind']);
  }
  if (!form.apiVersions.includes(textAt(value, 'apiVersion'))) {
    return refused(`${path}.apiVersion`, form.apiVersions.toReversed().join(' or '), value['apiVersion']);
  }
  const name = fieldAt(value, ...form.userData);
  if (name !== undefined && name !== null && typeof name !== 'string') {
    return refused(`${path}.${form.userData.join('.')}`, 'the name of a Secret', name);
  }
  return { ok: true, spec: value, userDataSecret: name ?? '' };
}

/** The same machines, with user data from another Secret. */
export const withUserDataSecret = (platform: Platform, spec: JsonObject, name: string): JsonObject =>
  withField(spec, forms[platform].userData, name);

const refused = (path: string, expected: string, found: Json | undefined): ReadProviderSpec => ({
  ok: false,
  code: 'SLW_BOOT_IMAGES_SPEC',
  message: `${path}: expected ${expected}, found ${shown(found)}. Correct it, or opt the MachineSet out of boot image updates.`,
});
