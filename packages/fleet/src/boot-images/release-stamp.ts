// When the boot images of a new release may be used: once the first machines run that release. Then we stamp ConfigMap
// coreos-bootimages. ConfigMaps have no generation, so we count its changes in an annotation. Another one records what
// the stamp is waiting for.
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

/** On the ConfigMap, until it is stamped: what the stamp is waiting for. */
const WAITS_FOR_ANNOTATION = 'slipway.dev/boot-images-waits-for';

/** A longer wait is reported as a failure. */
const LATE_AFTER_MS = 60 * 60_000;

export interface StampFacts {
  readonly data: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** The version of Slipway. */
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
  /** Requeue after this time even if nothing changes; null: never. */
  readonly lookAgainMs: number | null;
}

/** Null: remove the key. */
export interface StampWrite {
  readonly data: Readonly<Record<string, string | null>>;
  readonly annotations: Readonly<Record<string, string | null>>;
}

/** The stamp as recorded on the ConfigMap. */
export function readStamp(facts: StampFacts): Stamp {
  const generation = parseGeneration(facts.annotations) + (isNew(facts) ? 1 : 0);
  if (isStamped(facts)) return { state: { type: 'stamped' }, generation, lookAgainMs: null };
  const since = isNoted(facts) ? changedAt(facts) : facts.now;
  const left = since + LATE_AFTER_MS - facts.now;
  return { state: waiting(facts, left <= 0), generation, lookAgainMs: left <= 0 ? null : left };
}

/** What to write; null: nothing. `waitsFor`: what is missing; null: nothing, so stamp it. */
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

/** Covers everything that selects an image, but not what we add. */
export const digestStampData = ({ stream, streams, releaseVersion }: Readonly<Record<string, string>>): string =>
  sha256(canonicalJson([stream ?? null, streams ?? null, releaseVersion ?? null])).slice(0, 32);

/** 0: never counted, or the counter was corrupted. */
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

/** Whether the wait is recorded. A stamp of another version or for other images does not count. */
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
  const what = told === '' ? 'the release has not been checked yet' : `waiting for ${told}`;
  const late = isLate
    ? `. This has taken more than ${LATE_AFTER_MS / 60_000} minutes: run slipway status to see what blocks the pools`
    : '';
  const release = data['releaseVersion'] ?? 'unknown';
  return {
    type: 'waiting',
    why: `ConfigMap ${BOOT_IMAGES_CONFIG_MAP} of release ${release} is not yet stamped by Slipway ${version}: ${what}${late}`,
    isLate,
  };
}

// Whether the cluster has reached the release of the boot images: every source reports that release, and the first
// machines run it. An updated pool alone proves little: it may be updated to the previous release.

/** The target of a pool, and how far its machines are. */
export interface PoolProgress {
  readonly name: string;
  readonly machineCount: number;
  readonly updatedMachineCount: number;
  /** The status is newer than the last change of the pool. */
  readonly isObserved: boolean;
  /** The rendered config that its machines are updated to; null: none yet. */
  readonly config: string | null;
  readonly os: PoolOsProgress;
}

export type PoolOsProgress =
  /** Unmanaged, or set by a user's MachineConfig: no release changes it. */
  | { readonly type: 'unmanaged' }
  /** The OS image stream of the pool is not decided yet. */
  | { readonly type: 'undecided' }
  /** `rendered`: the image in the rendered config; null: the config does not exist. */
  | { readonly type: 'managed'; readonly wanted: string; readonly rendered: string | null };

/** An object that reports the release of the cluster. */
export interface ReleaseSource {
  readonly what: string;
  readonly says: string;
}

export interface ReleaseFacts {
  /** Of ConfigMap coreos-bootimages; '' if not specified: it is not compared then. */
  readonly releaseVersion: string;
  /** Those that exist and report a release. */
  readonly sources: readonly ReleaseSource[];
  /** The release image of the OSImageStream, and that of the cluster's target; null unless both are known. */
  readonly streams: { readonly madeFrom: string; readonly wanted: string } | null;
  /** Null: the pool does not exist. */
  readonly master: PoolProgress | null;
  readonly worker: PoolProgress | null;
}

/** What is missing, to follow `waiting for` in a sentence; null: nothing. */
export function waitsFor({ releaseVersion, sources, streams, master, worker }: ReleaseFacts): string | null {
  const other = releaseVersion === '' ? undefined : sources.find(({ says }) => says !== releaseVersion);
  if (other !== undefined) return `${other.what} to reach ${releaseVersion} (now ${cut(other.says)})`;
  if (streams !== null && streams.madeFrom !== streams.wanted)
    return `OSImageStream cluster to be built from ${cut(streams.wanted)} (now ${cut(streams.madeFrom)})`;
  return poolsWaitFor(master, worker);
}

/** One updated master proves that the release works here. Without managed masters, all workers must be updated. */
function poolsWaitFor(master: PoolProgress | null, worker: PoolProgress | null): string | null {
  if (master !== null && (!master.isObserved || master.machineCount > 0)) return poolWaitsFor(master, 1);
  return worker === null ? null : poolWaitsFor(worker, worker.machineCount);
}

function poolWaitsFor(pool: PoolProgress, enough: number): string | null {
  const { name, isObserved, config, updatedMachineCount } = pool;
  const place = `MachineConfigPool ${name}`;
  if (!isObserved) return `${place} to report a current status`;
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
  if (os.type === 'undecided') return `${place} to be assigned an OS image stream`;
  if (os.rendered === os.wanted) return null;
  const found = os.rendered === null ? 'does not exist' : `has ${os.rendered === '' ? 'none' : cut(os.rendered)}`;
  return `${place} to be rendered with OS image ${cut(os.wanted)} (${config} ${found})`;
}

const MAX_TEXT = 450;
const cut = (text: string): string => truncate(text, MAX_TEXT);
