import { badSpec } from './answers.ts';
import { fieldAt, isJsonObject, objectAt, shown, textAt } from '../json-path.ts';
import { verdictOfRegion } from './region-image.ts';
import type { ImageRule, JsonObject } from '../verdict.ts';

/** An AMI of the region. `id`, `arn` and `filters` exclude each other: what is set is `id` alone. */
export const machineApi: ImageRule = (spec, question) => {
  const region = textAt(spec, 'placement', 'region');
  if (region === '')
    return badSpec('placement.region', 'the region of the machines', fieldAt(spec, 'placement', 'region'));
  const text = imageText(objectAt(spec, 'ami'));
  if (text === '') return badSpec('ami', 'id, arn or filters', fieldAt(spec, 'ami'));
  const current = textAt(spec, 'ami', 'id');
  const change = (id: string): JsonObject => ({ ...spec, ami: { id } });
  return verdictOfRegion({ cloud: 'aws', region, current, text, change }, question);
};

/** Where a region had no image, the installer copied one and left filters with its name. */
function imageText(ami: JsonObject): string {
  const id = textAt(ami, 'id') || textAt(ami, 'arn');
  if (id !== '') return id;
  const filters = fieldAt(ami, 'filters');
  if (!Array.isArray(filters) || filters.length === 0) return '';
  return `filters ${filters.map((filter) => (isJsonObject(filter) ? filterText(filter) : '')).join(', ')}`;
}

const filterText = (filter: JsonObject): string => `${textAt(filter, 'name')}=${shown(fieldAt(filter, 'values'))}`;
