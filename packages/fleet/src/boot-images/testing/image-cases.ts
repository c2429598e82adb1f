// The expected verdict of every platform's Machine API rule about a spec, and the expected spec afterwards. Written by
// hand, not by the rules.
import { knownImages, nextKept, parseBootImageConfig } from '../boot-image-config.ts';
import type { ImageQuestion } from '../verdict.ts';
import { alibabacloudCases } from './cases/alibabacloud.ts';
import { awsCases } from './cases/aws.ts';
import { azureCases } from './cases/azure.ts';
import { baremetalCases } from './cases/baremetal.ts';
import { gcpCases } from './cases/gcp.ts';
import type { ImageCase } from './cases/image-case.ts';
import { importedCases } from './cases/imported.ts';
import { INFRASTRUCTURE_NAME } from './provider-specs.ts';
import { bootImagesData, imagesFor, olderStream, rhel9, type StreamVersions } from './stream-metadata.ts';

/** Against stream rhel-9, with the images of the release before known. */
export const imageCases: readonly ImageCase[] = [
  ...gcpCases,
  ...awsCases,
  ...azureCases,
  ...alibabacloudCases,
  ...baremetalCases,
  ...importedCases,
];

/** The remembered images of the previous release. */
export const keptOfOlderRelease: string = nextKept(parseSampleConfig({ 'rhel-9': olderStream }), undefined);

function parseSampleConfig(streams?: Parameters<typeof bootImagesData>[0]) {
  const read = parseBootImageConfig({ data: bootImagesData(streams) });
  if (!read.ok) throw new Error(read.message);
  return read.config;
}

const known = knownImages(parseSampleConfig(), keptOfOlderRelease);

export const buildImageQuestion = (
  {
    name,
    architecture = 'x86_64',
    azureCloud = '',
    isAdopted = false,
  }: Omit<ImageCase, 'platform' | 'spec' | 'verdict'>,
  versions: StreamVersions = rhel9,
): ImageQuestion => ({
  images: imagesFor(versions, architecture),
  architecture,
  infrastructureName: INFRASTRUCTURE_NAME,
  azureCloud,
  resource: { api: 'machine.openshift.io', kind: 'MachineSet', namespace: 'openshift-machine-api', name },
  isAdopted,
  knownImages: known,
});
