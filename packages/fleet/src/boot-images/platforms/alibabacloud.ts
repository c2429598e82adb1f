import { fieldAt, type JsonObject, textAt } from '../json.ts';
import { type Artifact, badSpec, type ImageQuestion, type ImageVerdict } from '../verdict.ts';
import { readArtifact, download, useImage, word } from './import.ts';
import { hasRegions, type PlatformDef, judgeRegionImage, imageFields } from './platform.ts';

export const alibabacloud = {
  type: 'alibabacloud',
  providerSpec: {
    kind: 'AlibabaCloudMachineProviderConfig',
    imagePaths: imageFields('imageId'),
    apiVersions: ['machine.openshift.io/v1'],
  },
  machineApi: judgeProviderSpec,
  imageIds: 'aliyun',
} as const satisfies PlatformDef;

/** An image of the region. Releases since 4.19 list none: their images, if any, must be imported. */
function judgeProviderSpec(spec: JsonObject, question: ImageQuestion): ImageVerdict {
  const region = textAt(spec, 'regionId');
  if (region === '') return badSpec('regionId', 'the region of the machines', fieldAt(spec, 'regionId'));
  const current = textAt(spec, 'imageId');
  if (current === '') return badSpec('imageId', 'the id of an image', fieldAt(spec, 'imageId'));
  const artifact = readArtifact(question.images, 'aliyun', 'qcow2.gz');
  if (isOurs(current, question) && !hasRegions(question.images, 'aliyun') && artifact !== null) {
    return toImport(current, region, artifact, question);
  }
  const change = (id: string): JsonObject => ({ ...spec, imageId: id });
  return judgeRegionImage({ cloud: 'aliyun', region, current, text: current, change }, question);
}

const isOurs = (id: string, { isAdopted, knownImages }: ImageQuestion): boolean => isAdopted || knownImages.has(id);

function toImport(image: string, region: string, artifact: Artifact, question: ImageQuestion): ImageVerdict {
  const { file, commands } = download(artifact);
  const to = `${question.infrastructureName || question.resource.name}-rhcos-${artifact.version}`;
  return {
    type: 'manual',
    image,
    to,
    artifact,
    commands: [
      ...commands,
      `aliyun oss cp ${word(file)} "oss://$BUCKET/${file}" --region ${word(region)}`,
      `aliyun ecs ImportImage --RegionId ${word(region)} --ImageName ${word(to)} --OSType linux --Platform Others_Linux --Architecture x86_64 --DiskDeviceMapping.1.Format qcow2 --DiskDeviceMapping.1.OSSBucket "$BUCKET" --DiskDeviceMapping.1.OSSObject ${word(file)}`,
      useImage(question.resource, { imageId: 'ID_OF_THE_IMPORTED_IMAGE' }),
    ],
  };
}
