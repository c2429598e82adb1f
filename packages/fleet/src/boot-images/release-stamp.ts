// When the boot images of a new release may be used: after the first machines run that release. Then ConfigMap coreos-bootimages
// gets our stamp. ConfigMaps have no generation, so we count its changes ourselves, on it; what is waited for stands there, too.
import {
  BOOT_IMAGES_CONFIG_MAP,
  bootImagesChangedAnnotation,
  bootImagesDigestAnnotation,
  bootImagesGenerationAnnotation,
} from '@slipway/api';
import { sha256 } from '@slipway/base/hash';
import { truncate } from '@slipway/base/text';
import { canonicalJson } from '../render/rendered-name.ts';

export const stampKeys = { version: 'MCOVersionHash', release: 'MCOReleaseImageVersion' } as const;

/** On the ConfigMap, while it is not stamped: what is waited for. */
const WAITS_FOR_ANNOTATION = 'slipway.dev/boot-images-waits-for';

/** How long it may take before it is reported. */
const LATE_AFTER_MS = 60 * 60_000;

export interface StampFacts {
  readonly data: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** Ours. */
  readonly version: string;
  readonly now: number;
}

/** Whether the images may be used. */
export type StampState =
  | { readonly type: 'stamped' }
  | { readonly type: 'waiting'; readonly why: string; readonly isLate: boolean };

export interface Stamp {
  readonly state: StampState;
  readonly generation: number;
  /** When it is to be looked at again though nothing changes; null: never. */
  readonly lookAgainMs: number | null;
}

/** Null: taken away. */
export interface StampWrite {
  readonly data: Readonly<Record<string, string | null>>;
  readonly annotations: Readonly<Record<string, string | null>>;
}

/** As it stands on the ConfigMap. */
export function readStamp(facts: StampFacts): Stamp {
  const generation = parseGeneration(facts.annotations) + (isNew(facts) ? 1 : 0);
  if (isStamped(facts)) return { state: { type: 'stamped' }, generation, lookAgainMs: null };
  const since = isNoted(facts) ? changedAt(facts) : facts.now;
  const left = since + LATE_AFTER_MS - facts.now;
  return { state: waiting(facts, left <= 0), generation, lookAgainMs: left <= 0 ? null : left };
}

/** What is to be written; null: nothing. `waitsFor`: what is still to come; null: nothing, it may be stamped. */
export function nextStamp(facts: StampFacts, waitsFor: string | null): StampWrite | null {
  if (isStamped(facts)) return null;
  if (waitsFor === null)
    return { data: ourStamp(facts), annotations: { ...counted(facts), [WAITS_FOR_ANNOTATION]: null } };
  if (isNoted(facts) && facts.annotations[WAITS_FOR_ANNOTATION] === waitsFor) return null;
  return {
    data: hasStamp(facts) ? noStamp : {},
    annotations: { ...(!isNoted(facts) && changedNow(facts)), ...counted(facts), [WAITS_FOR_ANNOTATION]: waitsFor },
  };
}

/** Of all that makes another image: what we add ourselves is no change. */
export const digestStampData = ({ stream, streams, releaseVersion }: Readonly<Record<string, string>>): string =>
  sha256(canonicalJson([stream ?? null, streams ?? null, releaseVersion ?? null])).slice(0, 32);

/** 0: it was never counted, or somebody damaged the counter. */
export function parseGeneration(annotations: StampFacts['annotations']): number {
  const text = annotations[bootImagesGenerationAnnotation] ?? '';
  return /^[1-9][0-9]{0,14}$/.test(text) ? Number(text) : 0;
}

const isNew = ({ annotations, data }: StampFacts): boolean =>
  annotations[bootImagesDigestAnnotation] !== digestStampData(data);

const isStamped = (facts: StampFacts): boolean =>
  !isNew(facts) &&
  facts.data[stampKeys.version] === facts.version &&
  facts.data[stampKeys.release] === (facts.data['releaseVersion'] ?? '');

const ourStamp = ({ data, version }: StampFacts): StampWrite['data'] => ({
  [stampKeys.version]: version,
  [stampKeys.release]: data['releaseVersion'] ?? '',
});

const noStamp: StampWrite['data'] = { [stampKeys.version]: null, [stampKeys.release]: null };

const changedNow = ({ now }: StampFacts): StampWrite['annotations'] => ({
  [bootImagesChangedAnnotation]: new Date(now).toISOString(),
});

const changedAt = ({ annotations }: StampFacts): number => Date.parse(annotations[bootImagesChangedAnnotation] ?? '');

const hasStamp = ({ data }: StampFacts): boolean => data[stampKeys.version] !== undefined;

/** Whether we wait already. Another's stamp says nothing of these images, or of this version: from then on we wait for our own. */
const isNoted = (facts: StampFacts): boolean => !isNew(facts) && !hasStamp(facts) && !Number.isNaN(changedAt(facts));

const counted = (facts: StampFacts): StampWrite['annotations'] =>
  isNew(facts)
    ? {
        [bootImagesGenerationAnnotation]: String(parseGeneration(facts.annotations) + 1),
        [bootImagesDigestAnnotation]: digestStampData(facts.data),
      }
    : {};

function waiting(facts: StampFacts, isLate: boolean): StampState {
  const { data, annotations, version } = facts;
  const told = isNoted(facts) ? (annotations[WAITS_FOR_ANNOTATION] ?? '') : '';
  const what = told === '' ? 'is about to be looked at' : `waits for ${told}`;
  const late = isLate
    ? `. That takes longer than ${LATE_AFTER_MS / 60_000} minutes: see why the pools do not get on, with slipway status`
    : '';
  const release = data['releaseVersion'] ?? 'unknown';
  return {
    type: 'waiting',
    why: `ConfigMap ${BOOT_IMAGES_CONFIG_MAP} of release ${release} is not stamped by version ${version} yet: ${what}${late}`,
    isLate,
  };
}

// Whether the cluster has come to the release that the boot images are of: whatever says which release it is at says this one,
// and the first machines run it. A pool that is updated says little by itself: it may be so on what was there before.

/** What a pool is to have, and how far its machines are. */
export interface PoolProgress {
  readonly name: string;
  readonly machineCount: number;
  readonly updatedMachineCount: number;
  /** The counts were made after the last change of the pool. */
  readonly isObserved: boolean;
  /** The rendered config that its machines go to; null: none yet. */
  readonly config: string | null;
  readonly os: PoolOsProgress;
}

export type PoolOsProgress =
  /** Nobody manages it, or somebody's own MachineConfig does: no release changes it. */
  | { readonly type: 'unmanaged' }
  /** Nobody has said yet which OS image stream the pool is on. */
  | { readonly type: 'undecided' }
  /** `rendered`: the image in the rendered config; null: there is no such config. */
  | { readonly type: 'managed'; readonly wanted: string; readonly rendered: string | null };

/** Something that says which release the cluster is at. */
export interface ReleaseSource {
  readonly what: string;
  readonly says: string;
}

export interface ReleaseFacts {
  /** Of ConfigMap coreos-bootimages; '': it does not say, and is compared with nothing. */
  readonly releaseVersion: string;
  /** Those that are there and say something. */
  readonly sources: readonly ReleaseSource[];
  /** The release images that the OSImageStream was made from and that the cluster goes to; null: not both are known. */
  readonly streams: { readonly madeFrom: string; readonly wanted: string } | null;
  /** Null: there is no such pool. */
  readonly master: PoolProgress | null;
  readonly worker: PoolProgress | null;
}

/** What is still to come, for a sentence that begins with `waits for`; null: nothing. */
export function waitsFor({ releaseVersion, sources, streams, master, worker }: ReleaseFacts): string | null {
  const other = releaseVersion === '' ? undefined : sources.find(({ says }) => says !== releaseVersion);
  if (other !== undefined) return `${other.what} to be ${releaseVersion}: it is ${cut(other.says)}`;
  if (streams !== null && streams.madeFrom !== streams.wanted)
    return `OSImageStream cluster to be made from ${cut(streams.wanted)}: it is from ${cut(streams.madeFrom)}`;
  return poolsWaitFor(master, worker);
}

/** One master that has finished shows that the release works here. Without masters of ours, all workers. */
function poolsWaitFor(master: PoolProgress | null, worker: PoolProgress | null): string | null {
  if (master !== null && (!master.isObserved || master.machineCount > 0)) return poolWaitsFor(master, 1);
  return worker === null ? null : poolWaitsFor(worker, worker.machineCount);
}

function poolWaitsFor(pool: PoolProgress, enough: number): string | null {
  const { name, isObserved, config, updatedMachineCount } = pool;
  const place = `MachineConfigPool ${name}`;
  if (!isObserved) return `the status of ${place}: it is of what the pool was before`;
  if (enough === 0) return null;
  if (config === null) return `${place} to be rendered`;
  const os = osWaitsFor(place, config, pool.os);
  if (os !== null) return os;
  if (updatedMachineCount >= enough) return null;
  const machines = enough === 1 ? 'the first machine' : 'all machines';
  return `${machines} of ${place} to be updated to ${config}`;
}

function osWaitsFor(place: string, config: string, os: PoolOsProgress): string | null {
  if (os.type === 'unmanaged') return null;
  if (os.type === 'undecided') return `${place} to be on an OS image stream`;
  if (os.rendered === os.wanted) return null;
  const found = os.rendered === null ? 'is not there' : `has ${os.rendered === '' ? 'none' : cut(os.rendered)}`;
  return `${place} to be rendered with the OS image ${cut(os.wanted)}: ${config} ${found}`;
}

const MAX_TEXT = 450;
const cut = (text: string): string => truncate(text, MAX_TEXT);
