// Which infrastructure templates of Cluster API we know, in which versions.
import type { ImageRule, Platform } from '../verdict.ts';
import * as aws from './aws.ts';
import * as azure from './azure.ts';
import * as baremetal from './baremetal.ts';
import * as gcp from './gcp.ts';
import * as ibmcloud from './ibmcloud.ts';
import * as nutanix from './nutanix.ts';
import * as openstack from './openstack.ts';
import * as powervs from './powervs.ts';
import type { TemplatePlace, TemplateRule } from './template-rule.ts';
import * as vsphere from './vsphere.ts';

export const infrastructureGroup = 'infrastructure.cluster.x-k8s.io';

interface TemplateKind {
  readonly platform: Platform;
  readonly plural: string;
  /** By version: what is a form of its own has a rule of its own. */
  readonly rules: Readonly<Record<string, TemplateRule>>;
}

const kinds = {
  AWSMachineTemplate: {
    platform: 'aws',
    plural: 'awsmachinetemplates',
    rules: { v1beta2: aws.clusterApi },
  },
  GCPMachineTemplate: { platform: 'gcp', plural: 'gcpmachinetemplates', rules: { v1beta1: gcp.clusterApi } },
  AzureMachineTemplate: { platform: 'azure', plural: 'azuremachinetemplates', rules: { v1beta1: azure.clusterApi } },
  VSphereMachineTemplate: {
    platform: 'vsphere',
    plural: 'vspheremachinetemplates',
    rules: { v1beta1: vsphere.clusterApi, v1beta2: vsphere.clusterApi },
  },
  OpenStackMachineTemplate: {
    platform: 'openstack',
    plural: 'openstackmachinetemplates',
    rules: { v1beta1: openstack.clusterApi, v1beta2: openstack.clusterApi },
  },
  NutanixMachineTemplate: {
    platform: 'nutanix',
    plural: 'nutanixmachinetemplates',
    rules: { v1beta1: nutanix.clusterApi },
  },
  IBMPowerVSMachineTemplate: {
    platform: 'powervs',
    plural: 'ibmpowervsmachinetemplates',
    rules: { v1beta2: powervs.clusterApi, v1beta3: powervs.clusterApiV1beta3 },
  },
  IBMVPCMachineTemplate: {
    platform: 'ibmcloud',
    plural: 'ibmvpcmachinetemplates',
    rules: { v1beta1: ibmcloud.clusterApi, v1beta2: ibmcloud.clusterApi },
  },
  Metal3MachineTemplate: {
    platform: 'baremetal',
    plural: 'metal3machinetemplates',
    rules: { v1beta1: baremetal.clusterApi, v1beta2: baremetal.clusterApi },
  },
} as const satisfies Record<string, TemplateKind>;

export type TemplateKindName = keyof typeof kinds;
export const templateKindNames = Object.keys(kinds) as readonly TemplateKindName[];

export const isTemplateKind = (kind: string): kind is TemplateKindName => Object.hasOwn(kinds, kind);

/** Its name in addresses of the API, the platform, and the versions that we can read, oldest first. */
export function templateKind(
  kind: TemplateKindName,
): Omit<TemplateKind, 'rules'> & { readonly versions: readonly string[] } {
  const { platform, plural, rules } = kinds[kind];
  return { platform, plural, versions: Object.keys(rules) };
}

/** Null: that version has a form that we do not know. */
export function templateRule(kind: TemplateKindName, version: string, place: TemplatePlace): ImageRule | null {
  const rules: TemplateKind['rules'] = kinds[kind].rules;
  const rule = Object.hasOwn(rules, version) ? rules[version] : undefined;
  return rule === undefined ? null : (spec, question) => rule(spec, question, place);
}
