// The PinnedImageSets that a node is assigned. Each is read once per change instead of being watched.
import type { PinnedImageSet } from '@slipway/api';
import { forEachLimit } from '@slipway/base/concurrency';
import { quote } from '@slipway/base/text';
import type { AssignedSet } from '@slipway/fleet';
import { isKubeError } from '@slipway/kube';
import type { Problem } from '../problem.ts';
import { addAttempt, type Attempts, isFailed, findEarliest } from './retry.ts';

export interface AssignedSets {
  /** The sets that could be read, by name. */
  readonly wanted: readonly DesiredSet[];
  /** The names of the others. */
  readonly unknown: ReadonlySet<string>;
  readonly problems: readonly { readonly set: string; readonly problem: Problem }[];
  /** When to read those again. Null: all are known. */
  readonly retryAt: number | null;
}

/** Rejects as the client does. */
export interface SetSource {
  /** Undefined: it does not exist. */
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
  /** The version that was assigned when the set was read. */
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

  /** If the object is newer than the assignment, the object counts: the assignment follows. */
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
  /** By digest, sorted, without duplicates. */
  readonly images: readonly string[];
}

export type ReadSetResult =
  | { readonly ok: true; readonly set: DesiredSet }
  | { readonly ok: false; readonly problem: Problem };

/** The limit of the API. */
const MAX_IMAGES = 500;
/** Names are written to the runtime's configuration and sent in its requests, so no other characters are allowed. */
const BY_DIGEST = /^[\w.:-]+(?:\/[\w.-]*)+@sha256:[a-f0-9]{64}$/;
const MAX_NAME_CHARS = 447;

/** `found` undefined: the API has no such set. */
export function readSet(name: string, found: PinnedImageSet | undefined): ReadSetResult {
  if (found === undefined) {
    return invalidSet(
      `PinnedImageSet ${name}, assigned to this node, does not exist. It was probably just deleted, and the controller will ` +
        'unassign it; if that takes long, check that the controller is running. Images already pinned for it stay pinned',
    );
  }
  const { uid = '', generation = 1 } = found.metadata;
  const images = found.spec.pinnedImages.map((image) => image.name);
  if (images.length > MAX_IMAGES) {
    return invalidSet(
      `PinnedImageSet ${name}, spec.pinnedImages: expected at most ${MAX_IMAGES} images, found ${images.length}: split them into several sets`,
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
