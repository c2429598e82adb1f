import type { JsonObject } from '../../json.ts';
import { rhel9 } from '../stream-metadata.ts';
import type { TemplateCase } from './template-case.ts';

const { version } = rhel9;

const gcp = { kind: 'GCPMachineTemplate', apiVersion: 'v1beta1' } as const;
const gcpImage = (name: string, project = 'rhcos-cloud'): string => `projects/${project}/global/images/${name}`;
const gcpSpec = (image: JsonObject): JsonObject => ({
  additionalLabels: { 'kubernetes-io-cluster-demo-x7k2p': 'owned' },
  additionalNetworkTags: ['demo-x7k2p-worker'],
  ...image,
  instanceType: 'n2-standard-4',
  ipForwarding: 'Disabled',
  rootDeviceSize: 128,
  rootDeviceType: 'pd-ssd',
  serviceAccounts: {
    email: 'w@demo.iam.gserviceaccount.com',
    scopes: ['https://www.googleapis.com/auth/cloud-platform'],
  },
  subnet: 'demo-x7k2p-worker-subnet',
});
const newGcp = gcpImage('rhcos-9-8-20260428-0-gcp-x86-64');
const oldGcp = gcpImage('rhcos-9-6-20250523-0-gcp-x86-64');

export const gcpTemplateCases: readonly TemplateCase[] = [
  {
    ...gcp,
    name: 'capi-gcp',
    spec: gcpSpec({ image: oldGcp }),
    verdict: 'change',
    to: newGcp,
    version,
    after: gcpSpec({ image: newGcp }),
  },
  { ...gcp, name: 'capi-gcp-current', spec: gcpSpec({ image: newGcp }), verdict: 'current', version },
  {
    ...gcp,
    name: 'capi-gcp-by-address',
    spec: gcpSpec({ image: `https://www.googleapis.com/compute/v1/${newGcp}` }),
    verdict: 'current',
    version,
  },
  {
    ...gcp,
    name: 'capi-gcp-before-family',
    spec: gcpSpec({ image: oldGcp, imageFamily: 'golden' }),
    verdict: 'change',
    to: newGcp,
    after: gcpSpec({ image: newGcp, imageFamily: 'golden' }),
  },
  {
    ...gcp,
    name: 'capi-gcp-of-another-project',
    spec: gcpSpec({ image: gcpImage('golden', 'demo') }),
    verdict: 'theirs',
  },
  {
    ...gcp,
    name: 'capi-gcp-marketplace',
    spec: gcpSpec({ image: gcpImage('redhat-coreos-ocp-48', 'redhat-marketplace-public') }),
    verdict: 'theirs',
  },
  {
    ...gcp,
    name: 'capi-gcp-family',
    spec: gcpSpec({ imageFamily: 'projects/demo/global/images/family/golden' }),
    verdict: 'theirs',
  },
  { ...gcp, name: 'capi-gcp-default', spec: gcpSpec({}), verdict: 'theirs' },
  {
    ...gcp,
    name: 'capi-gcp-adopted',
    isAdopted: true,
    spec: gcpSpec({ image: gcpImage('golden', 'demo') }),
    verdict: 'change',
    to: newGcp,
    after: gcpSpec({ image: newGcp }),
  },
  {
    ...gcp,
    name: 'capi-gcp-not-a-text',
    spec: gcpSpec({ image: { name: 'a' } }),
    verdict: 'failed',
    code: 'SLW_BOOT_IMAGES_SPEC',
  },
  {
    ...gcp,
    name: 'capi-gcp-on-mainframe',
    architecture: 's390x',
    spec: gcpSpec({ image: oldGcp }),
    verdict: 'failed',
    code: 'SLW_BOOT_IMAGES_ARCH',
  },
];
