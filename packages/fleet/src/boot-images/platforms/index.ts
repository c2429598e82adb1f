// One rule for each platform.
import * as alibabacloud from './alibabacloud.ts';
import * as aws from './aws.ts';
import * as azure from './azure.ts';
import * as baremetal from './baremetal.ts';
import * as gcp from './gcp.ts';
import * as ibmcloud from './ibmcloud.ts';
import * as libvirt from './libvirt.ts';
import * as nutanix from './nutanix.ts';
import * as openstack from './openstack.ts';
import * as ovirt from './ovirt.ts';
import * as powervs from './powervs.ts';
import * as vsphere from './vsphere.ts';
import type { ImageRule, Platform } from '../verdict.ts';

const rules = {
  'machine.openshift.io': {
    alibabacloud: alibabacloud.machineApi,
    aws: aws.machineApi,
    azure: azure.machineApi,
    baremetal: baremetal.machineApi,
    gcp: gcp.machineApi,
    ibmcloud: ibmcloud.machineApi,
    libvirt: libvirt.machineApi,
    nutanix: nutanix.machineApi,
    openstack: openstack.machineApi,
    ovirt: ovirt.machineApi,
    powervs: powervs.machineApi,
    vsphere: vsphere.machineApi,
  } satisfies Record<Platform, ImageRule>,
} as const;

export const imageRule = (api: keyof typeof rules, platform: Platform): ImageRule => rules[api][platform];
