import type { JsonObject } from '../../json.ts';
import { sampleAmi, sampleLicensedAmi, olderStream, rhel9 } from '../stream-metadata.ts';
import type { TemplateCase } from './template-case.ts';

const { version } = rhel9;
const older = olderStream.version;

const aws = { kind: 'AWSMachineTemplate', apiVersion: 'v1beta2' } as const;
const awsSpec = (ami: JsonObject, more: JsonObject = {}): JsonObject => ({
  additionalSecurityGroups: [{ filters: [{ name: 'tag:Name', values: ['demo-x7k2p-node'] }] }],
  ami,
  cloudInit: {},
  iamInstanceProfile: 'demo-x7k2p-worker-profile',
  ignition: { storageType: 'UnencryptedUserData', version: '3.4' },
  instanceMetadataOptions: { httpEndpoint: 'enabled', httpTokens: 'required' },
  instanceType: 'm6i.xlarge',
  rootVolume: { encrypted: true, size: 120, type: 'gp3' },
  sshKeyName: '',
  subnet: { filters: [{ name: 'tag:Name', values: ['demo-x7k2p-private-us-east-1a'] }] },
  ...more,
});
const ami = sampleAmi(version, 'x86_64', 'us-east-1');

export const awsTemplateCases: readonly TemplateCase[] = [
  {
    ...aws,
    name: 'capi-aws',
    spec: awsSpec({ id: sampleAmi(older, 'x86_64', 'us-east-1') }),
    verdict: 'change',
    to: ami,
    version,
    after: awsSpec({ id: ami }),
  },
  { ...aws, name: 'capi-aws-current', spec: awsSpec({ id: ami }), verdict: 'current', version },
  {
    ...aws,
    name: 'capi-aws-arm',
    architecture: 'aarch64',
    spec: awsSpec({ id: sampleAmi(older, 'aarch64', 'us-east-1') }),
    verdict: 'change',
    to: sampleAmi(version, 'aarch64', 'us-east-1'),
    after: awsSpec({ id: sampleAmi(version, 'aarch64', 'us-east-1') }),
  },
  { ...aws, name: 'capi-aws-unknown', spec: awsSpec({ id: 'ami-0123456789abcdef0' }), verdict: 'theirs' },
  {
    ...aws,
    name: 'capi-aws-adopted',
    isAdopted: true,
    spec: awsSpec({ id: 'ami-0123456789abcdef0' }),
    verdict: 'change',
    to: ami,
    after: awsSpec({ id: ami }),
  },
  {
    ...aws,
    name: 'capi-aws-windows-licence',
    spec: awsSpec({ id: sampleLicensedAmi(version, 'us-east-1') }),
    verdict: 'theirs',
  },
  {
    ...aws,
    name: 'capi-aws-lookup',
    spec: awsSpec({}, { imageLookupFormat: 'capa-ami-{{.BaseOS}}', imageLookupOrg: '258751437250' }),
    verdict: 'theirs',
  },
  { ...aws, name: 'capi-aws-eks', spec: awsSpec({ eksLookupType: 'AmazonLinux2023' }), verdict: 'theirs' },
  {
    ...aws,
    name: 'capi-aws-without-an-id',
    spec: awsSpec({ id: '' }),
    verdict: 'failed',
    code: 'SLW_BOOT_IMAGES_SPEC',
  },
  {
    ...aws,
    name: 'capi-aws-on-power',
    architecture: 'ppc64le',
    isAdopted: true,
    spec: awsSpec({ id: 'ami-0123456789abcdef0' }),
    verdict: 'failed',
    code: 'SLW_BOOT_IMAGES_ARCH',
  },
];
