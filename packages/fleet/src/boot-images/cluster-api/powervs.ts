import { fieldAt, textAt } from '../json-path.ts';
import { machineApi } from '../platforms/powervs.ts';
import type { ImageQuestion, ImageVerdict, JsonObject } from '../verdict.ts';
import { badTemplate, type TemplateRule, verdictOfView } from './template-rule.ts';

/** v1beta2: an image of the workspace, or an object that the provider has imported one for. */
export const clusterApi: TemplateRule = (spec, question) => {
  const byObject = textAt(spec, 'imageRef', 'name');
  const [id, name, regex] = ['id', 'name', 'regex'].map((field) => textAt(spec, 'image', field));
  // What it is an object of, its name does not tell, like an id.
  const image = imageOf(id || byObject, name ?? '', regex ?? '');
  if (image === null) return badTemplate('image', 'id, name or regex, or imageRef', fieldAt(spec, 'image'));
  return verdictOf(spec, image, question, (to) => ({ image: { name: to }, imageRef: null }));
};

/** v1beta3 says which of the two it is. */
export const clusterApiV1beta3: TemplateRule = (spec, question) => {
  const type = textAt(spec, 'image', 'type');
  const reference = imageOf(textAt(spec, 'image', 'reference', 'id'), textAt(spec, 'image', 'reference', 'name'), '');
  const image = type === 'Import' ? imageOf(textAt(spec, 'image', 'import', 'name'), '', '') : reference;
  if (image === null)
    return badTemplate('image', 'reference with id or name, or import with name', fieldAt(spec, 'image'));
  return verdictOf(spec, image, question, (to) => ({ image: { type: 'Reference', reference: { name: to } } }));
};

function imageOf(id: string, name: string, regex: string): JsonObject | null {
  if (id !== '') return { type: 'ID', id };
  if (name !== '') return { type: 'Name', name };
  return regex === '' ? null : { type: 'RegEx', regex };
}

const verdictOf = (
  spec: JsonObject,
  image: JsonObject,
  question: ImageQuestion,
  imported: (to: string) => JsonObject,
): ImageVerdict =>
  verdictOfView(
    spec,
    { plural: 'ibmpowervsmachinetemplates', rule: machineApi, providerSpec: { image }, imported },
    question,
  );
