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
import { isEqual } from '@slipway/base/equal';
import { sha256 } from '@slipway/base/hash';
import type { Change, Decision } from './decide.ts';
import { apiWord, type MachineReading } from './facts.ts';
import { fieldAt, isJsonObject, type PatchStep, toPointer, type Json, type JsonObject } from './json.ts';
import type { ImagePaths } from './platforms/platform.ts';
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

/**
 * The version of the image that a resource has now; null: not to be recorded. An image of the release may
 * also be from the installer, or imported by a user. A user who restored an earlier image holds the resource there.
 */
export function findRecordableVersion(
  { verdict, version, gate }: Pick<Decision, 'verdict' | 'version' | 'gate'>,
  kept: readonly KeptImage[],
): string | null {
  if (verdict.verdict === 'current') return version ?? '';
  return gate === 'held' ? (kept.findLast(({ image }) => image === verdict.image)?.version ?? null) : null;
}

/** As recorded in the status. */
export const shownVersion = (version: string): string =>
  (version === '' ? UNKNOWN_VERSION : version).slice(0, MAX_VERSION);

interface HistoryChange {
  /** '' if unknown. */
  readonly version: string;
  /** Of the ConfigMap. */
  readonly generation: number;
  readonly now: number;
}

/** Null: the entry exists. If the change was written but the entry was not, the next call adds it. */
export function nextDetails(details: readonly HistoryDetail[], change: HistoryChange): readonly HistoryDetail[] | null {
  const bootImageVersion = shownVersion(change.version);
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
  /** The patch that sets it in a spec with any other image: every field that selects an image. */
  readonly set: readonly PatchStep[];
}

type ReadSpec = Extract<MachineReading, { readonly ok: true }>;

/** `image`: as the platform names it. `version`: '' if unknown. */
export const toKeptImage = (
  { spec, imagePaths }: Pick<ReadSpec, 'spec' | 'imagePaths'>,
  { image, version }: Pick<KeptImage, 'image' | 'version'>,
  now: number,
): KeptImage => ({ version, image, at: new Date(now).toISOString(), set: imageSteps(spec, imagePaths) });

/** Sets the image of this spec in another one, whatever image that has. */
export const imageSteps = (spec: JsonObject, imagePaths: ImagePaths): PatchStep[] =>
  imagePaths(spec).map((path) => {
    const value = valueAt(spec, path);
    return value === undefined ? { op: 'remove', path: toPointer(path) } : { op: 'add', path: toPointer(path), value };
  });

function valueAt(spec: Json, path: readonly string[]): Json | undefined {
  return path.reduce<Json | undefined>(
    (found, key) => (Array.isArray(found) ? (found as readonly Json[])[Number(key)] : fieldAt(found, key)),
    spec,
  );
}

const MAX_IMAGES = 20;
const MAX_ANNOTATION = 32 * 1024;

/** Newest last. The image before a change is stored with it. Undefined: nothing is known about it. */
export function nextKeptImages(
  kept: readonly KeptImage[],
  before: KeptImage | undefined,
  after: KeptImage,
): readonly KeptImage[] {
  const last = kept.at(-1);
  if (last !== undefined && last.version === after.version && isSameImage(last, after)) return kept;
  const isKnown = before === undefined || kept.some((each) => isSameImage(each, before));
  return [...kept, ...(isKnown ? [] : [before]), after];
}

/** The images once a change is written. `machine` and `verdict`: before it. */
export function keptAfterChange(
  kept: readonly KeptImage[],
  { machine, verdict, change }: Pick<Decision, 'verdict'> & { readonly machine: ReadSpec; readonly change: Change },
  now: number,
): readonly KeptImage[] {
  const before = toKeptImage(machine, { image: verdict.image, version: '' }, now);
  const after = toKeptImage({ ...machine, spec: change.spec ?? machine.spec }, change, now);
  return nextKeptImages(kept, before.image === '' ? undefined : before, after);
}

/** The images of a resource that is checked. `before`: recorded on it with the last change. */
export function keptWhenChecked(
  kept: readonly KeptImage[],
  { machine, decision, before }: { machine: MachineReading; decision: Decision; before: KeptImage | undefined },
  now: number,
): readonly KeptImage[] {
  const { verdict, version } = decision;
  if (!machine.ok || verdict.verdict !== 'current') return kept;
  const after = toKeptImage(machine, { image: verdict.image, version: version ?? '' }, now);
  return nextKeptImages(kept, before?.image === '' ? undefined : before, after);
}

const isSameImage = (a: KeptImage, b: KeptImage): boolean => a.image === b.image && isEqual(a.set, b.set);

/** Matches the version, else the image; returns the newest match. */
export const findKeptImage = (kept: readonly KeptImage[], wanted: string): KeptImage | undefined =>
  kept.findLast(({ version }) => version === wanted && version !== '') ??
  kept.findLast(({ image }) => image === wanted);

/**
 * The spec with that image. Null: the spec has changed so much that the image no longer fits into it, or the steps do not
 * cover all fields that select its image now.
 */
export function withKeptImage(spec: JsonObject, { set }: KeptImage, imagePaths: ImagePaths): JsonObject | null {
  let result: Json | null = spec;
  for (const step of set) {
    result =
      result === null ? null : applied(result, parsePointer(step.path), 'value' in step ? step.value : undefined);
  }
  if (!isJsonObject(result)) return null;
  const covered = set.map(({ path }) => path).toSorted();
  return isEqual(covered, imagePaths(result).map(toPointer).toSorted()) ? result : null;
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
