// The sets that a node is assigned, as the cluster has them. Each is got once for every change of it, and not watched.
import type { PinnedImageSet } from '@slipway/api';
import { forEachLimit } from '@slipway/base/concurrency';
import { quote } from '@slipway/base/text';
import type { AssignedSet } from '@slipway/fleet';
import { isKubeError } from '@slipway/kube';
import type { Problem } from '../problem.ts';
import { addAttempt, type Attempts, isFailed, findEarliest } from './retry.ts';

export interface AssignedSets {
  /** By name, those that are known. */
  readonly wanted: readonly DesiredSet[];
  /** The others, by name. */
  readonly unknown: ReadonlySet<string>;
  readonly problems: readonly { readonly set: string; readonly problem: Problem }[];
  /** When those are asked for again; null: all are known. */
  readonly retryAt: number | null;
}

/** Rejects as the client does. */
export interface SetSource {
  /** undefined: there is none. */
  findSet(name: string, signal: AbortSignal): Promise<PinnedImageSet | undefined>;
}

export interface SetReader {
  read(assigned: readonly AssignedSet[], signal: AbortSignal): Promise<AssignedSets>;
}

export interface SetReaderOptions {
  readonly cluster: SetSource;
  readonly now: () => number;
  readonly random: () => number;
}

interface KnownSet {
  /** What the assignment said when it was asked for. */
  readonly asked: string;
  readonly set: DesiredSet;
}

const AT_ONCE = 5;

export function createSetReader({ cluster, now, random }: SetReaderOptions): SetReader {
  const known = new Map<string, KnownSet>();
  const attempts = new Map<string, Attempts>();

  async function get(assigned: AssignedSet, signal: AbortSignal): Promise<void> {
    const { name } = assigned;
    const outcome = await fetchSet(name, signal);
    if (outcome.ok) {
      known.set(name, { asked: formatVersion(assigned), set: outcome.set });
      attempts.delete(name);
    } else attempts.set(name, addAttempt(attempts.get(name) ?? null, outcome.problem, now(), random()));
  }

  async function fetchSet(name: string, signal: AbortSignal): Promise<ReturnType<typeof readSet>> {
    let found: PinnedImageSet | undefined;
    try {
      found = await cluster.findSet(name, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!isKubeError(error)) throw error;
      const message = `PinnedImageSet ${name} cannot be read: ${error.message}`;
      return { ok: false, problem: { code: 'SLW_PINNING_SET', message } };
    }
    return readSet(name, found);
  }

  /** An object that is newer than the assignment says is the one to go by: that follows. */
  function isOutdated(assigned: AssignedSet): boolean {
    const found = known.get(assigned.name);
    if (found === undefined) return true;
    const { uid, generation } = found.set;
    return found.asked !== formatVersion(assigned) && (uid !== assigned.uid || generation < assigned.generation);
  }

  return {
    async read(assigned, signal) {
      forgetOthers(known, assigned);
      forgetOthers(attempts, assigned);
      const due = assigned.filter((set) => isOutdated(set) && (attempts.get(set.name)?.notBefore ?? 0) <= now());
      await forEachLimit(due, AT_ONCE, (set) => get(set, signal));
      const names = assigned.map(({ name }) => name);
      return {
        wanted: names.flatMap((name) => known.get(name)?.set ?? []),
        unknown: new Set(names.filter((name) => !known.has(name))),
        problems: [...attempts].filter(([, tried]) => isFailed(tried)).map(([set, { problem }]) => ({ set, problem })),
        retryAt: findEarliest([...attempts.values()].map(({ notBefore }) => notBefore)),
      };
    },
  };
}

const formatVersion = ({ uid, generation }: AssignedSet): string => `${uid} ${generation}`;

function forgetOthers(map: Map<string, unknown>, assigned: readonly AssignedSet[]): void {
  const names = new Set(assigned.map(({ name }) => name));
  for (const name of map.keys()) if (!names.has(name)) map.delete(name);
}

// A PinnedImageSet as the node needs it.

export interface DesiredSet {
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  /** By digest, sorted, each once. */
  readonly images: readonly string[];
}

export type ReadSetResult =
  | { readonly ok: true; readonly set: DesiredSet }
  | { readonly ok: false; readonly problem: Problem };

/** As the API has it. */
const MAX_IMAGES = 500;
/** The name goes into a file of the container runtime and back into its requests: nothing else is let through. */
const BY_DIGEST = /^[\w.:-]+(?:\/[\w.-]*)+@sha256:[a-f0-9]{64}$/;
const MAX_NAME_CHARS = 447;

/** undefined: the API has no such set. */
export function readSet(name: string, found: PinnedImageSet | undefined): ReadSetResult {
  if (found === undefined) {
    return invalidSet(
      `PinnedImageSet ${name}, which this node is to pin, does not exist: it was just deleted, and the node is told so soon; ` +
        'if that does not happen, see whether the controller runs. What the node holds of it stays',
    );
  }
  const { uid = '', generation = 1 } = found.metadata;
  const images = found.spec.pinnedImages.map((image) => image.name);
  if (images.length > MAX_IMAGES) {
    return invalidSet(
      `PinnedImageSet ${name}, spec.pinnedImages: expected at most ${MAX_IMAGES} images, found ${images.length}: make several sets of them`,
    );
  }
  const wrong = images.findIndex((image) => image.length > MAX_NAME_CHARS || !BY_DIGEST.test(image));
  if (wrong !== -1) {
    return invalidSet(
      `PinnedImageSet ${name}, spec.pinnedImages[${wrong}].name: expected an image by digest, host/name@sha256:…, found ` +
        `${quote(images[wrong] ?? '')}: correct it in the set`,
    );
  }
  return { ok: true, set: { name, uid, generation, images: [...new Set(images)].toSorted() } };
}

const invalidSet = (message: string): ReadSetResult => ({ ok: false, problem: { code: 'SLW_PINNING_SET', message } });
