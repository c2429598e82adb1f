import { fieldAt, isJsonObject, textAt } from '../json-path.ts';
import { notOurs } from '../platforms/answers.ts';
import { machineApi } from '../platforms/ibmcloud.ts';
import type { JsonObject } from '../verdict.ts';
import { badTemplate, ownImageName, type TemplateRule, verdictOfView } from './template-rule.ts';

/** A custom image of VPC, by its name or, which counts first, its id; or an offering of the catalogue. */
export const clusterApi: TemplateRule = (spec, question, place) => {
  const name = nameOf(spec);
  const text = name || otherText(spec);
  if (text === '') return badTemplate('image', 'name or id', fieldAt(spec, 'image'));
  if (name === '' && !question.isAdopted)
    return notOurs(text, `The image is found by ${text}, which tells nothing of it.`);
  const region = regionOf(textAt(spec, 'zone')) || place.region || 'REGION';
  const view = {
    plural: 'ibmvpcmachinetemplates',
    rule: machineApi,
    providerSpec: { image: name || ownImageName(question), region },
    image: text,
    imported: (to: string) => ({ image: { name: to }, catalogOffering: null }),
  };
  return verdictOfView(spec, view, question);
};

const otherText = (spec: JsonObject): string => {
  if (isJsonObject(fieldAt(spec, 'catalogOffering'))) return 'catalogOffering';
  const id = textAt(spec, 'image', 'id');
  return id === '' ? '' : `id ${id}`;
};

/** '' where something else counts. */
const nameOf = (spec: JsonObject): string => (otherText(spec) === '' ? textAt(spec, 'image', 'name') : '');

/** Such as us-south of the zone us-south-1. */
const regionOf = (zone: string): string => /^([a-z]{2}-[a-z]+)-\d+$/.exec(zone)?.[1] ?? '';
