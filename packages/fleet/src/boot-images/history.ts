// The boot images that a resource has had: BootImageHistory records the versions, and an annotation on it stores the
// images, so that one can be restored.
import type { BootImageHistory } from '@slipway/api';
import {
  annotationCodec,
  anything,
  array,
  type Decoder,
  map,
  object,
  readableItems,
  refine,
  string,
  tagged,
} from '@slipway/base/codec';
import { sha256 } from '@slipway/base/hash';
import { apiWord } from './facts.ts';
import { isJsonObject, type PatchStep, patchSteps, type Json, type JsonObject } from './json.ts';
import type { MachineResource } from './verdict.ts';

export type HistoryDetail = NonNullable<NonNullable<BootImageHistory['status']>['details']>[number];

const MAX_DETAILS = 200;
const MAX_NAME = 253;
const MAX_VERSION = 253;
const UNKNOWN_VERSION = 'unknown';

/** `<name>-<mapi|capi>-<machineset|machinedeployment>`. */
export function historyName({ api, kind, name }: MachineResource): string {
  const end = `-${apiWord(api)}-${kind.toLowerCase()}`;
  if (name.length + end.length <= MAX_NAME) return name + end;
  const hash = sha256(name).slice(0, 8);
  return `${name.slice(0, MAX_NAME - end.length - hash.length - 1)}-${hash}${end}`;
}

export const historySpec = ({ api, kind, name }: MachineResource): BootImageHistory['spec'] => ({
  machineResourceReference: { name, resource: kind, apiGroup: api },
});

interface HistoryChange {
  /** '' if unknown. */
  readonly version: string;
  /** Of the ConfigMap. */
  readonly generation: number;
  readonly now: number;
}

/** Null: the entry exists. If the change was written but the entry was not, the next call adds it. */
export function nextDetails(details: readonly HistoryDetail[], change: HistoryChange): readonly HistoryDetail[] | null {
  const bootImageVersion = (change.version === '' ? UNKNOWN_VERSION : change.version).slice(0, MAX_VERSION);
  const last = details.at(-1);
  if (last?.bootImageVersion === bootImageVersion && last.configMapGeneration === change.generation) return null;
  const updateTime = `${new Date(change.now).toISOString().slice(0, 19)}Z`;
  return [...details, { updateTime, bootImageVersion, configMapGeneration: change.generation }].slice(-MAX_DETAILS);
}

// The last images of a resource, as JSON on its BootImageHistory, so that one can be restored. Incomplete data is
// ignored.

export interface KeptImage {
  /** '' if unknown: the image from before Slipway. */
  readonly version: string;
  /** As the platform names it. */
  readonly image: string;
  readonly at: string;
  /** The patch that sets it, relative to the spec. */
  readonly set: readonly PatchStep[];
}

const MAX_IMAGES = 20;
const MAX_ANNOTATION = 32 * 1024;

interface KeptImageChange {
  readonly before: { readonly image: string; readonly spec: JsonObject };
  readonly after: { readonly image: string; readonly spec: JsonObject; readonly version: string };
  readonly now: number;
}

/** Newest last. The image before our first change is stored with it. */
export function nextKeptImages(
  kept: readonly KeptImage[],
  { before, after, now }: KeptImageChange,
): readonly KeptImage[] {
  const at = new Date(now).toISOString();
  const last = kept.at(-1);
  if (last?.image === after.image && last.version === after.version) return kept;
  const first: KeptImage = { version: '', image: before.image, at, set: patchSteps(after.spec, before.spec, '') };
  const isKnown = before.image === '' || kept.some(({ image }) => image === before.image);
  const next = { version: after.version, image: after.image, at, set: patchSteps(before.spec, after.spec, '') };
  return [...kept, ...(isKnown ? [] : [first]), next];
}

/** Matches the version, else the image; returns the newest match. */
export const findKeptImage = (kept: readonly KeptImage[], wanted: string): KeptImage | undefined =>
  kept.findLast(({ version }) => version === wanted && version !== '') ??
  kept.findLast(({ image }) => image === wanted);

/** The spec with that image. Null: the spec has changed so much that the image no longer fits into it. */
export function withKeptImage(spec: JsonObject, { set }: KeptImage): JsonObject | null {
  let result: Json | null = spec;
  for (const step of set) {
    result =
      result === null ? null : applied(result, parsePointer(step.path), 'value' in step ? step.value : undefined);
  }
  return isJsonObject(result) ? result : null;
}

const parsePointer = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));

/** Null: the path does not exist. An undefined value removes the field. */
function applied(target: Json, [key, ...rest]: readonly string[], value: Json | undefined): Json | null {
  if (key === undefined) return value ?? null;
  if (Array.isArray(target)) return appliedToList(target, key, rest, value);
  if (!isJsonObject(target)) return null;
  if (rest.length > 0) {
    const below = Object.hasOwn(target, key) ? applied(target[key] ?? null, rest, value) : null;
    return below === null ? null : { ...target, [key]: below };
  }
  if (value !== undefined) return { ...target, [key]: value };
  return Object.fromEntries(Object.entries(target).filter(([name]) => name !== key));
}

function appliedToList(
  list: readonly Json[],
  key: string,
  rest: readonly string[],
  value: Json | undefined,
): Json | null {
  const index = Number(key);
  const item = list[index];
  if (item === undefined) return null;
  const below = applied(item, rest, value);
  return below === null ? null : list.with(index, below);
}

/** Drops the oldest if there is not enough space. */
export function encodeKeptImages(kept: readonly KeptImage[]): string {
  const fitting = kept.slice(-MAX_IMAGES);
  while (keptImagesCodec.encode(fitting).length > MAX_ANNOTATION) fitting.shift();
  return keptImagesCodec.encode(fitting);
}

export const decodeKeptImages = (text: string | undefined): readonly KeptImage[] => keptImagesCodec.decode(text);

/** The value was parsed from JSON. */
const json = refine(anything, (value) => value !== undefined, 'a value') as Decoder<Json>;

const keptImage: Decoder<KeptImage> = object({
  version: string(),
  image: string(),
  at: string(),
  set: array(
    tagged('op', {
      add: object({ path: string(), value: json }),
      replace: object({ path: string(), value: json }),
      remove: object({ path: string() }),
    }),
  ),
});

const keptImagesCodec = annotationCodec({
  decoder: map(readableItems(keptImage), (images) => images.slice(-MAX_IMAGES)),
  maxChars: MAX_ANNOTATION,
  missing: [],
  unreadable: [],
});
