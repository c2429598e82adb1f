// When the boot images of a new release may be used: after the first machines run that release. Then ConfigMap coreos-bootimages
// gets our stamp. ConfigMaps have no generation, so we count its changes ourselves, on it; what is waited for stands there, too.
import { bootImagesChangedAnnotation, bootImagesDigestAnnotation, bootImagesGenerationAnnotation } from '@slipway/api';
import { sha256 } from '@slipway/base/hash';
import { canonicalJson } from '../render/rendered-name.ts';
import { bootImagesName } from './boot-image-config.ts';
import type { StampState } from './facts.ts';

export const stampKeys = { version: 'MCOVersionHash', release: 'MCOReleaseImageVersion' } as const;

/** On the ConfigMap, while it is not stamped: what is waited for. */
const waitsForAnnotation = 'slipway.dev/boot-images-waits-for';

/** How long it may take before it is reported. */
const lateAfterMs = 60 * 60_000;

export interface StampFacts {
  readonly data: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** Ours. */
  readonly version: string;
  readonly now: number;
}

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
  const generation = generationOf(facts.annotations) + (isNew(facts) ? 1 : 0);
  if (isStamped(facts)) return { state: { type: 'stamped' }, generation, lookAgainMs: null };
  const since = isNoted(facts) ? changedAt(facts) : facts.now;
  const left = since + lateAfterMs - facts.now;
  return { state: waiting(facts, left <= 0), generation, lookAgainMs: left <= 0 ? null : left };
}

/** What is to be written; null: nothing. `waitsFor`: what is still to come; null: nothing, it may be stamped. */
export function nextStamp(facts: StampFacts, waitsFor: string | null): StampWrite | null {
  if (isStamped(facts)) return null;
  if (waitsFor === null)
    return { data: ourStamp(facts), annotations: { ...counted(facts), [waitsForAnnotation]: null } };
  if (isNoted(facts) && facts.annotations[waitsForAnnotation] === waitsFor) return null;
  return {
    data: hasStamp(facts) ? noStamp : {},
    annotations: { ...(!isNoted(facts) && changedNow(facts)), ...counted(facts), [waitsForAnnotation]: waitsFor },
  };
}

/** Of all that makes another image: what we add ourselves is no change. */
export const digestOf = ({ stream, streams, releaseVersion }: Readonly<Record<string, string>>): string =>
  sha256(canonicalJson([stream ?? null, streams ?? null, releaseVersion ?? null])).slice(0, 32);

/** 0: it was never counted, or somebody damaged the counter. */
export function generationOf(annotations: StampFacts['annotations']): number {
  const text = annotations[bootImagesGenerationAnnotation] ?? '';
  return /^[1-9][0-9]{0,14}$/.test(text) ? Number(text) : 0;
}

const isNew = ({ annotations, data }: StampFacts): boolean =>
  annotations[bootImagesDigestAnnotation] !== digestOf(data);

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
        [bootImagesGenerationAnnotation]: String(generationOf(facts.annotations) + 1),
        [bootImagesDigestAnnotation]: digestOf(facts.data),
      }
    : {};

function waiting(facts: StampFacts, isLate: boolean): StampState {
  const { data, annotations, version } = facts;
  const told = isNoted(facts) ? (annotations[waitsForAnnotation] ?? '') : '';
  const what = told === '' ? 'is about to be looked at' : `waits for ${told}`;
  const late = isLate
    ? `. That takes longer than ${lateAfterMs / 60_000} minutes: see why the pools do not get on, with slipway status`
    : '';
  const release = data['releaseVersion'] ?? 'unknown';
  return {
    type: 'waiting',
    why: `ConfigMap ${bootImagesName} of release ${release} is not stamped by version ${version} yet: ${what}${late}`,
    isLate,
  };
}
