import type { JsonObject } from '../../json.ts';
import { sampleLocation, olderStream, rhel9, sampleSha256 } from '../stream-metadata.ts';
import type { TemplateCase } from './template-case.ts';

const { version } = rhel9;
const older = olderStream.version;

const metal = { kind: 'Metal3MachineTemplate', apiVersion: 'v1beta1' } as const;
const metal3Spec = (image: JsonObject): JsonObject => ({
  automatedCleaningMode: 'metadata',
  dataTemplate: { name: 'demo-x7k2p-worker' },
  hostSelector: { matchExpressions: [{ key: 'coreos.openshift.io/stream', operator: 'notin', values: ['rhel-10'] }] },
  ...image,
});
const location = (of: string): string => sampleLocation(of, 'x86_64', 'openstack.x86_64.qcow2.gz');
const metalImage = (of: string, more: JsonObject): JsonObject => ({
  image: { checksum: sampleSha256(location(of)), ...more, url: location(of) },
});

export const metal3TemplateCases: readonly TemplateCase[] = [
  {
    ...metal,
    name: 'capi-metal3',
    spec: metal3Spec(metalImage(older, { checksumType: 'sha256', format: 'qcow2' })),
    verdict: 'change',
    to: location(version),
    version,
    after: metal3Spec(metalImage(version, { checksumType: 'sha256', format: 'qcow2' })),
  },
  {
    ...metal,
    name: 'capi-metal3-v1beta2',
    apiVersion: 'v1beta2',
    spec: metal3Spec(metalImage(older, { checksumType: 'md5', diskFormat: 'qcow2' })),
    verdict: 'change',
    to: location(version),
    version,
    after: metal3Spec(metalImage(version, { checksumType: 'sha256', diskFormat: 'qcow2' })),
  },
  {
    ...metal,
    name: 'capi-metal3-current',
    spec: metal3Spec(metalImage(version, { checksumType: 'sha256', format: 'qcow2' })),
    verdict: 'current',
    version,
  },
  {
    ...metal,
    name: 'capi-metal3-payload',
    apiVersion: 'v1beta2',
    spec: metal3Spec({ customDeploy: { method: 'install_coreos' } }),
    verdict: 'current',
    version,
  },
  {
    ...metal,
    name: 'capi-metal3-cached',
    spec: metal3Spec({
      image: { checksum: 'http://172.22.0.3:6180/images/a.md5sum', url: 'http://172.22.0.3:6180/images/a.qcow2' },
    }),
    verdict: 'manual',
  },
  {
    ...metal,
    name: 'capi-metal3-of-its-owner',
    spec: metal3Spec({ image: { checksum: 'a', url: 'https://files.example.com/golden.qcow2' } }),
    verdict: 'theirs',
  },
  {
    ...metal,
    name: 'capi-metal3-another-method',
    spec: metal3Spec({ customDeploy: { method: 'own' } }),
    verdict: 'theirs',
  },
  {
    ...metal,
    name: 'capi-metal3-without-an-image',
    spec: metal3Spec({}),
    verdict: 'failed',
    code: 'SLW_BOOT_IMAGES_SPEC',
  },
];
