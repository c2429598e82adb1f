import { posix } from 'node:path';
import { rankVersion, type SpecVersion } from '../src/version.ts';
import type { Case } from './cases.ts';
import type { Json } from './configs.ts';
import { isObject } from './tidy.ts';

/** Removes a part of a config, so that two configs can be compared without it. */
export type Projection = (config: unknown) => unknown;

/** Without the advertisements of tang servers, if the case includes the step that loses them. */
export function withoutAdvertisements({ configs, to, op }: Case): Projection | undefined {
  const target = to ?? (op === 'merge' ? '3.5.0' : undefined);
  if (target === undefined) return undefined;
  const crosses = configs.map(readVersion).some((from) => from !== undefined && isNew(from) !== isNew(target));
  return crosses ? leaveOutAdvertisements : undefined;
}

const isNew = (version: SpecVersion) => rankVersion(version) >= rankVersion('3.5.0');

function leaveOutAdvertisements(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(leaveOutAdvertisements);
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(([key]) => !(key === 'advertisement' && 'url' in value));
  return Object.fromEntries(kept.map(([key, member]) => [key, leaveOutAdvertisements(member)]));
}

const OF_THE_SOURCE = ['compression', 'verification', 'httpHeaders'];

/** Without the fields of a source, where the inputs name different sources. */
export function withoutReplacedSources({ configs, op }: Case): Projection | undefined {
  if (op !== 'merge') return undefined;
  const sources = new Map<string, Set<unknown>>();
  for (const text of configs) {
    for (const [place, { source }] of listResources(inSpec3(JSON.parse(text)))) {
      const known = sources.get(place) ?? new Set();
      sources.set(place, known.add(source));
    }
  }
  const replaced = new Set([...sources].filter(([, known]) => known.size > 1).map(([place]) => place));
  return replaced.size === 0 ? undefined : (config) => leaveOutAt(config, replaced);
}

/** The resources of a 2.x config as translated: there is always a source, even if empty. */
function inSpec3(config: unknown): unknown {
  if (!String(at(config, 'ignition', 'version')).startsWith('2.')) return config;
  const files = listItems(at(config, 'storage', 'files')).filter(({ append }) => append !== true);
  const replace = at(config, 'ignition', 'config', 'replace');
  return {
    ignition: { config: isObject(replace) ? { replace: withSource(replace) } : {} },
    storage: {
      files: files.map(({ path, contents }) => ({
        path: posix.normalize(String(path)),
        contents: withSource(isObject(contents) ? contents : {}),
      })),
    },
  };
}

const withSource = (resource: Json): Json => ({ source: '', ...resource });

function leaveOutAt(config: unknown, places: ReadonlySet<string>): unknown {
  const copy: unknown = structuredClone(config);
  for (const [place, resource] of listResources(copy)) {
    if (places.has(place)) for (const key of OF_THE_SOURCE) delete resource[key];
  }
  return copy;
}

/** The resources that a merge matches by place and not by source: a replacement, a file's contents, a key file. */
function listResources(config: unknown): [string, Json][] {
  const storage = at(config, 'storage');
  const places: [string, unknown][] = [
    ['replace', at(config, 'ignition', 'config', 'replace')],
    ...listItems(at(storage, 'files')).map((file): [string, unknown] => [
      `file ${String(file['path'])}`,
      file['contents'],
    ]),
    ...listItems(at(storage, 'luks')).map((luks): [string, unknown] => [
      `luks ${String(luks['name'])}`,
      luks['keyFile'],
    ]),
  ];
  return places.filter((entry): entry is [string, Json] => isObject(entry[1]));
}

function at(value: unknown, ...path: string[]): unknown {
  return path.reduce<unknown>((found, key) => (isObject(found) ? found[key] : undefined), value);
}

const listItems = (list: unknown): Json[] => (Array.isArray(list) ? list.filter(isObject) : []);

function readVersion(text: string): SpecVersion | undefined {
  // Only configs that both sides have read get here.
  return at(JSON.parse(text), 'ignition', 'version') as SpecVersion | undefined;
}
