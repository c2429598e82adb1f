import { badSpec } from './answers.ts';
import { artifactOf } from './artifact.ts';
import { download, useImage, word } from './commands.ts';
import { importedImage, isNamedByInstaller, nameWithVersion } from './imported-image.ts';
import { fieldAt, textAt } from '../json-path.ts';
import type { Architecture, ImageRule } from '../verdict.ts';

const LONGEST_NAME = 63;

/** Names of operating systems in VPC; the cloud has none of ours for s390x, and takes the image under that of RHEL. */
const osNames: Partial<Record<Architecture, string>> = { s390x: 'red-8-s390x-byol' };

/** A custom image of VPC, by its name, which has no dots. */
export const machineApi: ImageRule = (spec, question) => {
  const current = textAt(spec, 'image');
  if (current === '') return badSpec('image', 'the name of an image', fieldAt(spec, 'image'));
  const region = textAt(spec, 'region');
  if (region === '') return badSpec('region', 'the region of the machines', fieldAt(spec, 'region'));
  const group = textAt(spec, 'resourceGroup') || question.infrastructureName;
  return importedImage(
    {
      current,
      isInstallers: isNamedByInstaller(current, question),
      artifact: artifactOf(question.images, 'ibmcloud', 'qcow2.gz'),
      place: 'artifacts.ibmcloud.formats["qcow2.gz"]',
      nameOf: (version) => nameWithVersion(current, version.replaceAll('.', '-'), LONGEST_NAME),
      commands: (artifact, to) => {
        const { file, commands } = download(artifact);
        const osName = osNames[question.architecture] ?? 'rhel-coreos-stable-amd64';
        return [
          ...commands,
          `ibmcloud cos upload --bucket "$BUCKET" --region ${word(region)} --key ${word(file)} --file ${word(file)}`,
          `ibmcloud is image-create ${word(to)} --file ${word(`cos://${region}/`)}"$BUCKET"/${word(file)} --os-name ${osName} --resource-group-name ${word(group)}`,
          useImage(question.resource, { image: to }),
        ];
      },
    },
    question,
  );
};
