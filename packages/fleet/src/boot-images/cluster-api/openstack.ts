import { fieldAt, isJsonObject, textAt } from '../json-path.ts';
import { notOurs } from '../platforms/answers.ts';
import { machineApi } from '../platforms/openstack.ts';
import { badTemplate, ownImageName, type TemplateRule, verdictOfView } from './template-rule.ts';

/** An image of Glance, which is the source of a root volume too. It can be found by its name, or in ways that tell nothing of it. */
export const clusterApi: TemplateRule = (spec, question) => {
  const image = fieldAt(spec, 'image');
  if (!isJsonObject(image)) return badTemplate('image', 'id, filter or imageRef', image);
  const name = textAt(image, 'filter', 'name');
  const text = name || otherText(image);
  if (text === '') return badTemplate('image', 'id, filter or imageRef', image);
  if (name === '' && !question.isAdopted)
    return notOurs(text, `The image is found by ${text}, which is the owner's own choice.`);
  const view = {
    plural: 'openstackmachinetemplates',
    rule: machineApi,
    providerSpec: { image: name || ownImageName(question), cloudName: textAt(spec, 'identityRef', 'cloudName') },
    image: text,
    // What the owner's tags are of is not known, and the new image has none.
    imported: (to: string) => ({ image: { filter: { name: to } } }),
  };
  return verdictOfView(spec, view, question);
};

function otherText(image: Parameters<typeof textAt>[0]): string {
  if (textAt(image, 'id') !== '') return `id ${textAt(image, 'id')}`;
  if (textAt(image, 'imageRef', 'name') !== '') return `imageRef ${textAt(image, 'imageRef', 'name')}`;
  return Array.isArray(fieldAt(image, 'filter', 'tags')) ? 'tags' : '';
}
