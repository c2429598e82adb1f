import { fieldAt, isJsonObject, objectAt, textAt } from '../json-path.ts';
import { notOurs } from '../platforms/answers.ts';
import { machineApi } from '../platforms/nutanix.ts';
import { badTemplate, ownImageName, type TemplateRule, verdictOfView } from './template-rule.ts';

/** An image of Prism Central, by its name or its UUID; or by a pattern, which is somebody's own. */
export const clusterApi: TemplateRule = (spec, question) => {
  const isLookup = isJsonObject(fieldAt(spec, 'imageLookup'));
  const image = objectAt(spec, 'image');
  const text = isLookup ? 'imageLookup' : textAt(image, textAt(image, 'type') === 'uuid' ? 'uuid' : 'name');
  if (text === '') return badTemplate('image', 'type and name, or type and uuid', fieldAt(spec, 'image'));
  if (isLookup && !question.isAdopted)
    return notOurs(text, `The image is found by ${text}, which is the owner's own choice.`);
  const view = {
    plural: 'nutanixmachinetemplates',
    rule: machineApi,
    providerSpec: { image: isLookup ? { type: 'name', name: ownImageName(question) } : image },
    image: text,
    imported: (name: string) => ({ image: { type: 'name', name }, imageLookup: null }),
  };
  return verdictOfView(spec, view, question);
};
