import { choice } from '../schema.ts';

const platformTypes = [
  '',
  'AWS',
  'Azure',
  'BareMetal',
  'GCP',
  'Libvirt',
  'OpenStack',
  'None',
  'VSphere',
  'oVirt',
  'IBMCloud',
  'KubeVirt',
  'EquinixMetal',
  'PowerVS',
  'AlibabaCloud',
  'Nutanix',
  'External',
] as const;

export type PlatformType = (typeof platformTypes)[number];

export const platformType = (description: string) => choice(platformTypes, description);
