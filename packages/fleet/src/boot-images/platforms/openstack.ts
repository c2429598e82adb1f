import { badSpec } from './answers.ts';
import { artifactOf } from './artifact.ts';
import { download, useImage, word } from './commands.ts';
import { importedImage, isNamedByInstaller, nameWithVersion } from './imported-image.ts';
import { fieldAt, isJsonObject, textAt, withField } from '../json-path.ts';
import type { ImageRule, JsonObject } from '../verdict.ts';

const LONGEST_NAME = 255;

/** With a root volume, its source alone counts, and is the name of an image too, whatever the field is called. */
const imagePath = (spec: JsonObject): readonly [string, ...string[]] =>
  isJsonObject(fieldAt(spec, 'rootVolume')) ? ['rootVolume', 'sourceUUID'] : ['image'];

/** An image of Glance, by its name. */
export const machineApi: ImageRule = (spec, question) => {
  const path = imagePath(spec);
  const current = textAt(spec, ...path);
  if (current === '') return badSpec(path.join('.'), 'the name of an image', fieldAt(spec, ...path));
  const cloud = textAt(spec, 'cloudName') || 'openstack';
  return importedImage(
    {
      current,
      isInstallers: isNamedByInstaller(current, question),
      artifact: artifactOf(question.images, 'openstack', 'qcow2.gz'),
      place: 'artifacts.openstack.formats["qcow2.gz"]',
      nameOf: (version) => nameWithVersion(current, version, LONGEST_NAME),
      commands: (artifact, to) => {
        const { file, commands } = download(artifact);
        return [
          ...commands,
          `openstack --os-cloud ${word(cloud)} image create --container-format bare --disk-format qcow2 --file ${word(file)} ${word(to)}`,
          useImage(question.resource, withField({}, path, to)),
        ];
      },
    },
    question,
  );
};
