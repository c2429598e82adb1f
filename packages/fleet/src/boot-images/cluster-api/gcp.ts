import { fieldAt, textAt } from '../json-path.ts';
import { noImage, notOurs } from '../platforms/answers.ts';
import { gcpImage, isOurGcpImage, isSameGcpImage } from '../platforms/gcp.ts';
import type { JsonObject } from '../verdict.ts';
import { badTemplate, type TemplateRule } from './template-rule.ts';

/** A full reference, which counts before a family. */
export const clusterApi: TemplateRule = (spec, question) => {
  const found = fieldAt(spec, 'image');
  if (found !== undefined && found !== null && typeof found !== 'string')
    return badTemplate('image', 'a reference to an image', found);
  const image = textAt(spec, 'image');
  const target = gcpImage(question.images);
  if (target !== null && isSameGcpImage(image, target.reference))
    return { type: 'current', image, version: target.version };
  const text = image || familyText(spec);
  if (!isOurGcpImage(image, question.images) && !question.isAdopted) return notOurs(text, whyNotOurs(image, text));
  if (target === null) return noImage(text, question, 'images.gcp');
  const { reference: to, version } = target;
  return { type: 'change', image: text, to, version, spec: { ...spec, image: to } };
};

function familyText(spec: JsonObject): string {
  const family = textAt(spec, 'imageFamily');
  return family === '' ? 'the default of the provider' : `imageFamily ${family}`;
}

const whyNotOurs = (image: string, text: string): string =>
  image === ''
    ? `The image is found by ${text}, which is the owner's own choice.`
    : `Image ${image} is not of a project that releases have their images in.`;
