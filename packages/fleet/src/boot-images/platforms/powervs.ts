import { fieldAt, type JsonObject, objectAt, textAt } from '../json.ts';
import { badSpec, badTemplate, type ImageQuestion, type ImageVerdict } from '../verdict.ts';
import { readArtifact, importedImage, nameWithVersion, useImage, word } from './import.ts';
import { type PlatformDef, judgeView, imageFields } from './platform.ts';

const TEMPLATE_KIND = 'IBMPowerVSMachineTemplate';

export const powervs = {
  type: 'powervs',
  providerSpec: {
    kind: 'PowerVSMachineProviderConfig',
    imagePaths: imageFields('image'),
    apiVersions: ['machine.openshift.io/v1'],
  },
  machineApi: judgeProviderSpec,
  clusterApi: {
    kind: TEMPLATE_KIND,
    imagePaths: imageFields('image', 'imageRef'),
    rules: { v1beta2: judgeTemplate, v1beta3: judgeTemplateV1beta3 },
  },
  architecture: 'ppc64le',
  regionIn: ({ powervs }) => powervs?.region,
} as const satisfies PlatformDef;

const MAX_NAME_LENGTH = 47;

/** An image of the workspace, by its name. The installer names it `rhcos-<cluster>`. */
function judgeProviderSpec(spec: JsonObject, question: ImageQuestion): ImageVerdict {
  const type = textAt(spec, 'image', 'type') || 'Name';
  const field = { ID: 'id', Name: 'name', RegEx: 'regex' }[type];
  if (field === undefined) return badSpec('image.type', 'ID, Name or RegEx', fieldAt(spec, 'image', 'type'));
  const current = textAt(spec, 'image', field);
  if (current === '')
    return badSpec(`image.${field}`, 'the id, name or regex of the image', fieldAt(spec, 'image', field));
  const own = `rhcos-${question.infrastructureName || question.resource.name}`;
  const base = type === 'Name' ? current : own;
  return importedImage(
    {
      current,
      isInstallers: type === 'Name' && question.infrastructureName !== '' && isOwn(current, own),
      isId: type === 'ID',
      artifact: readArtifact(question.images, 'powervs', 'ova.gz'),
      place: 'artifacts.powervs.formats["ova.gz"]',
      nameOf: (version) => nameWithVersion(base, version, MAX_NAME_LENGTH),
      commands: (_, to) => [
        ...importCommands(question, to),
        useImage(question.resource, { image: { type: 'Name', name: to, id: null, regex: null } }),
      ],
    },
    question,
  );
}

const isOwn = (name: string, own: string): boolean => name === own || name.startsWith(`${own}-`);

/** Public buckets already have the image, one in each region: the workspace imports it from the nearest. */
function importCommands({ images }: ImageQuestion, to: string): string[] {
  const regions = objectAt(images, 'images', 'powervs', 'regions');
  const names = Object.keys(regions).filter((name) => /^[\w-]+$/.test(name));
  return names
    .slice(0, 1)
    .flatMap((nearest) => [
      `REGION=${nearest} # or the region nearest to the workspace: ${names.join(' ')}`,
      `ibmcloud pi image import ${word(to)} --bucket-access public --region "$REGION" --bucket ${inRegion(textAt(regions, nearest, 'bucket'), nearest)} --image-file-name ${word(textAt(regions, nearest, 'object'))}`,
    ]);
}

/** Buckets are named after their regions. */
const inRegion = (bucket: string, region: string): string =>
  bucket.endsWith(`-${region}`) ? `${word(bucket.slice(0, -region.length))}"$REGION"` : word(bucket);

/** v1beta2: an image of the workspace, or an object whose image the provider imported. */
function judgeTemplate(spec: JsonObject, question: ImageQuestion): ImageVerdict {
  const byObject = textAt(spec, 'imageRef', 'name');
  const [id, name, regex] = ['id', 'name', 'regex'].map((field) => textAt(spec, 'image', field));
  // Like an id, the name of the object does not identify its image.
  const image = buildImage(id || byObject, name ?? '', regex ?? '');
  if (image === null) return badTemplate('image', 'id, name or regex, or imageRef', fieldAt(spec, 'image'));
  return judgeImage(spec, image, question, (to) => ({ image: { name: to }, imageRef: null }));
}

/** In v1beta3 the type states which of the two it is. */
function judgeTemplateV1beta3(spec: JsonObject, question: ImageQuestion): ImageVerdict {
  const type = textAt(spec, 'image', 'type');
  const reference = buildImage(
    textAt(spec, 'image', 'reference', 'id'),
    textAt(spec, 'image', 'reference', 'name'),
    '',
  );
  const image = type === 'Import' ? buildImage(textAt(spec, 'image', 'import', 'name'), '', '') : reference;
  if (image === null)
    return badTemplate('image', 'reference with id or name, or import with name', fieldAt(spec, 'image'));
  return judgeImage(spec, image, question, (to) => ({ image: { type: 'Reference', reference: { name: to } } }));
}

function buildImage(id: string, name: string, regex: string): JsonObject | null {
  if (id !== '') return { type: 'ID', id };
  if (name !== '') return { type: 'Name', name };
  return regex === '' ? null : { type: 'RegEx', regex };
}

const judgeImage = (
  spec: JsonObject,
  image: JsonObject,
  question: ImageQuestion,
  imported: (to: string) => JsonObject,
): ImageVerdict =>
  judgeView(spec, { kind: TEMPLATE_KIND, rule: judgeProviderSpec, providerSpec: { image }, imported }, question);
