import { fieldAt, isJsonObject, type JsonObject, objectAt, textAt } from '../json.ts';
import { type Artifact, badSpec, badTemplate, type ImageQuestion, type ImageVerdict, notOurs } from '../verdict.ts';
import { readArtifact, importedImage, isNamedByInstaller, nameWithVersion, useImage, word } from './import.ts';
import { ownImageName, type PlatformDef, judgeView, imageFields } from './platform.ts';

const TEMPLATE_KIND = 'NutanixMachineTemplate';

export const nutanix = {
  type: 'nutanix',
  providerSpec: {
    kind: 'NutanixMachineProviderConfig',
    imagePaths: imageFields('image'),
    apiVersions: ['machine.openshift.io/v1'],
  },
  machineApi: judgeProviderSpec,
  clusterApi: {
    kind: TEMPLATE_KIND,
    imagePaths: imageFields('image', 'imageLookup'),
    rules: { v1beta1: judgeTemplate },
  },
} as const satisfies PlatformDef;

const MAX_NAME_LENGTH = 64;

/** An image of Prism Central, by name or, if the user chose so, by UUID. */
function judgeProviderSpec(spec: JsonObject, question: ImageQuestion): ImageVerdict {
  const type = textAt(spec, 'image', 'type');
  const current = textAt(spec, 'image', type === 'uuid' ? 'uuid' : 'name');
  if (current === '') return badSpec('image', 'type and name, or type and uuid', fieldAt(spec, 'image'));
  const base = type === 'uuid' ? `${question.infrastructureName || question.resource.name}-rhcos` : current;
  return importedImage(
    {
      current,
      isInstallers: type !== 'uuid' && isNamedByInstaller(current, question),
      isId: type === 'uuid',
      artifact: readArtifact(question.images, 'nutanix', 'qcow2'),
      place: 'artifacts.nutanix.formats.qcow2',
      nameOf: (version) => nameWithVersion(base, version, MAX_NAME_LENGTH),
      commands: (artifact, to) => [
        importCommand(artifact, to),
        useImage(question.resource, { image: { type: 'name', name: to, uuid: null } }),
      ],
    },
    question,
  );
}

/** Prism Central downloads and verifies the image. */
function importCommand({ location, sha256 }: Artifact, name: string): string {
  const checksum = { checksum_algorithm: 'SHA_256', checksum_value: sha256 };
  const body = {
    metadata: { kind: 'image' },
    spec: { name, resources: { image_type: 'DISK_IMAGE', source_uri: location, checksum } },
  };
  return `curl --fail --user "$PRISM_USER" --header 'Content-Type: application/json' --data ${word(JSON.stringify(body))} "https://$PRISM_CENTRAL:9440/api/nutanix/v3/images"`;
}

/** An image of Prism Central, by name or UUID; or by a pattern, which is user-managed. */
function judgeTemplate(spec: JsonObject, question: ImageQuestion): ImageVerdict {
  const isLookup = isJsonObject(fieldAt(spec, 'imageLookup'));
  const image = objectAt(spec, 'image');
  const text = isLookup ? 'imageLookup' : textAt(image, textAt(image, 'type') === 'uuid' ? 'uuid' : 'name');
  if (text === '') return badTemplate('image', 'type and name, or type and uuid', fieldAt(spec, 'image'));
  if (isLookup && !question.isAdopted) return notOurs(text, `The image is selected by ${text}, which is user-managed.`);
  const view = {
    kind: TEMPLATE_KIND,
    rule: judgeProviderSpec,
    providerSpec: { image: isLookup ? { type: 'name', name: ownImageName(question) } : image },
    image: text,
    imported: (name: string) => ({ image: { type: 'name', name }, imageLookup: null }),
  };
  return judgeView(spec, view, question);
}
