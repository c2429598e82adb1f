import { badSpec } from './answers.ts';
import { artifactOf } from './artifact.ts';
import { useImage, word } from './commands.ts';
import { importedImage, nameWithVersion } from './imported-image.ts';
import { fieldAt, objectAt, textAt } from '../json-path.ts';
import type { ImageQuestion, ImageRule } from '../verdict.ts';

const LONGEST_NAME = 47;

/** An image of the workspace, by its name. The installer calls it `rhcos-<cluster>`. */
export const machineApi: ImageRule = (spec, question) => {
  const type = textAt(spec, 'image', 'type') || 'Name';
  const field = { ID: 'id', Name: 'name', RegEx: 'regex' }[type];
  if (field === undefined) return badSpec('image.type', 'ID, Name or RegEx', fieldAt(spec, 'image', 'type'));
  const current = textAt(spec, 'image', field);
  if (current === '') return badSpec(`image.${field}`, 'what names the image', fieldAt(spec, 'image', field));
  const own = `rhcos-${question.infrastructureName || question.resource.name}`;
  const base = type === 'Name' ? current : own;
  return importedImage(
    {
      current,
      isInstallers: type === 'Name' && question.infrastructureName !== '' && isOwn(current, own),
      artifact: artifactOf(question.images, 'powervs', 'ova.gz'),
      place: 'artifacts.powervs.formats["ova.gz"]',
      nameOf: (version) => nameWithVersion(base, version, LONGEST_NAME),
      commands: (_, to) => [
        ...importCommands(question, to),
        useImage(question.resource, { image: { type: 'Name', name: to, id: null, regex: null } }),
      ],
    },
    question,
  );
};

const isOwn = (name: string, own: string): boolean => name === own || name.startsWith(`${own}-`);

/** Public buckets have the image already, one in each region: the workspace takes it from the nearest. */
function importCommands({ images }: ImageQuestion, to: string): string[] {
  const regions = objectAt(images, 'images', 'powervs', 'regions');
  const names = Object.keys(regions).filter((name) => /^[\w-]+$/.test(name));
  return names
    .slice(0, 1)
    .flatMap((nearest) => [
      `REGION=${nearest} # or what is nearer to the workspace: ${names.join(' ')}`,
      `ibmcloud pi image import ${word(to)} --bucket-access public --region "$REGION" --bucket ${inRegion(textAt(regions, nearest, 'bucket'), nearest)} --image-file-name ${word(textAt(regions, nearest, 'object'))}`,
    ]);
}

/** Buckets are named after their regions. */
const inRegion = (bucket: string, region: string): string =>
  bucket.endsWith(`-${region}`) ? `${word(bucket.slice(0, -region.length))}"$REGION"` : word(bucket);
