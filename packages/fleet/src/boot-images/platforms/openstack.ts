import { fieldAt, isJsonObject, type JsonObject, textAt, withField } from '../json.ts';
import { badSpec, badTemplate, type ImageQuestion, type ImageVerdict, notOurs, unknownImage } from '../verdict.ts';
import {
  readArtifact,
  download,
  importedImage,
  isNamedByInstaller,
  nameWithVersion,
  useImage,
  word,
} from './import.ts';
import { ownImageName, type PlatformDef, judgeView, imageFields } from './platform.ts';

const TEMPLATE_KIND = 'OpenStackMachineTemplate';

export const openstack = {
  type: 'openstack',
  providerSpec: {
    kind: 'OpenstackProviderSpec',
    imagePaths: (spec) => [imagePath(spec)],
    apiVersions: ['openstackproviderconfig.openshift.io/v1alpha1', 'machine.openshift.io/v1alpha1'],
  },
  machineApi: judgeProviderSpec,
  clusterApi: {
    kind: TEMPLATE_KIND,
    imagePaths: imageFields('image'),
    rules: { v1beta1: judgeTemplate, v1beta2: judgeTemplate },
  },
} as const satisfies PlatformDef;

const MAX_NAME_LENGTH = 255;

/** With a root volume, only its source counts; despite the field's name, it is the name of an image. */
const imagePath = (spec: JsonObject): readonly [string, ...string[]] =>
  isJsonObject(fieldAt(spec, 'rootVolume')) ? ['rootVolume', 'sourceUUID'] : ['image'];

/** An image of Glance, by its name. */
function judgeProviderSpec(spec: JsonObject, question: ImageQuestion): ImageVerdict {
  const path = imagePath(spec);
  const current = textAt(spec, ...path);
  if (current === '') return badSpec(path.join('.'), 'the name of an image', fieldAt(spec, ...path));
  const cloud = textAt(spec, 'cloudName') || 'openstack';
  return importedImage(
    {
      current,
      isInstallers: isNamedByInstaller(current, question),
      artifact: readArtifact(question.images, 'openstack', 'qcow2.gz'),
      place: 'artifacts.openstack.formats["qcow2.gz"]',
      nameOf: (version) => nameWithVersion(current, version, MAX_NAME_LENGTH),
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
}

/** An image of Glance, also as the source of a root volume. Selected by name, or in a way that does not identify it. */
function judgeTemplate(spec: JsonObject, question: ImageQuestion): ImageVerdict {
  const image = fieldAt(spec, 'image');
  if (!isJsonObject(image)) return badTemplate('image', 'id, filter or imageRef', image);
  const name = textAt(image, 'filter', 'name');
  const text = name || otherText(image);
  if (text === '') return badTemplate('image', 'id, filter or imageRef', image);
  if (name === '' && !question.isAdopted)
    return textAt(image, 'id') === ''
      ? notOurs(text, `The image is selected by ${text}, which is user-managed.`)
      : unknownImage(text, question);
  const view = {
    kind: TEMPLATE_KIND,
    rule: judgeProviderSpec,
    providerSpec: { image: name || ownImageName(question), cloudName: textAt(spec, 'identityRef', 'cloudName') },
    image: text,
    // The meaning of the user's tags is unknown, and the new image has none.
    imported: (to: string) => ({ image: { filter: { name: to } } }),
  };
  return judgeView(spec, view, question);
}

function otherText(image: Parameters<typeof textAt>[0]): string {
  if (textAt(image, 'id') !== '') return `id ${textAt(image, 'id')}`;
  if (textAt(image, 'imageRef', 'name') !== '') return `imageRef ${textAt(image, 'imageRef', 'name')}`;
  return Array.isArray(fieldAt(image, 'filter', 'tags')) ? 'tags' : '';
}
