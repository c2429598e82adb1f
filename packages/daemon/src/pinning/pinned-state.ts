// Pins sets once they are complete, verifies that the container runtime applies the pins, and recovers the state after
// a crash at any moment.
import { array, type Decoder, number, object, orNull, stateFileCodec, string } from '@slipway/base/codec';
import type { Log } from '@slipway/kube';
import { type ContainerRuntime, findUnpinned, type RuntimeImage } from '../host/container-runtime.ts';
import { type FileSystem, removeUnfinished } from '../host/file-system.ts';
import type { Host } from '../host/host.ts';
import type { Problem } from '../problem.ts';
import { STATE_DIRECTORY, writeStateFile } from '../state-file.ts';
import type { DesiredSet } from './assigned-sets.ts';
import { decidePins, isSamePins, type PinsInput } from './decisions.ts';
import type { LocalImages } from './local-images.ts';
import { addAttempt, type Attempts, LONG_OUTAGE_MS, toExpectedProblem } from './retry.ts';

export interface PinReconciler {
  /** Rejects if the container runtime does not list its images. */
  keep(wanted: Pick<PinsInput, 'wanted' | 'unknown' | 'isWell'>, signal: AbortSignal): Promise<void>;
  /** Null: the last attempt succeeded, or the runtime may still be starting. */
  problem(): Problem | null;
  retryAt(): number | null;
}

export interface PinReconcilerOptions {
  readonly inForce: PinnedState;
  readonly images: LocalImages;
  readonly log: Log;
  readonly now: () => number;
  readonly random: () => number;
}

/** Sets are pinned only on the basis of an answer that the runtime gave just now. */
const FRESH_MS = 5000;

export function createPinReconciler({ inForce, images, log, now, random }: PinReconcilerOptions): PinReconciler {
  let failure: Attempts | null = null;
  /** The runtime's answer when its pins were last found to be applied. */
  let settledBy: unknown = null;

  async function isApplied(next: readonly DesiredSet[]): Promise<boolean> {
    if (!isSamePins(next, inForce.pinned())) return false;
    const observed = images.seen() ?? [];
    if (settledBy !== observed && !(await inForce.isSettled(observed))) return false;
    settledBy = observed;
    return true;
  }

  async function put(next: readonly DesiredSet[], signal: AbortSignal): Promise<void> {
    try {
      await inForce.put(next, signal);
    } catch (error) {
      const problem = toExpectedProblem(error);
      if (signal.aborted || problem === null) throw error;
      log.warn({ problem }, 'could not pin images');
      failure = addAttempt(failure, problem, now(), random());
      return;
    }
    failure = null;
    log.info({ sets: next.map(({ name, generation }) => `${name} ${generation}`) }, 'pinned');
    await images.look(signal);
  }

  return {
    async keep(wanted, signal) {
      const decide = () => decidePins({ ...wanted, pinned: inForce.pinned(), present: images.present() });
      if (!isSamePins(decide(), inForce.pinned()) && !images.isFresh(FRESH_MS)) await images.look(signal);
      const next = decide();
      if (await isApplied(next)) failure = null;
      else if (failure === null || failure.notBefore <= now()) await put(next, signal);
    },
    problem() {
      if (failure === null || (isTransient(failure) && failure.lastAt - failure.firstAt < LONG_OUTAGE_MS)) return null;
      return failure.problem;
    },
    retryAt: () => failure?.notBefore ?? null,
  };
}

const isTransient = ({ problem }: Attempts): boolean => problem.code === 'SLW_PINNING_RUNTIME';

// Applies pins and knows which are in force. After a crash at any moment, the runtime is configured for either the old
// sets or the new ones, and the next run knows which.

export interface PinnedState {
  /** Sorted by name. */
  pinned(): readonly DesiredSet[];
  /** False: this machine was never assigned a set, and existing pins of its runtime are user-managed. */
  isOurs(): boolean;
  /** Whether the runtime applies the pins, according to these images. */
  isSettled(images: readonly RuntimeImage[]): Promise<boolean>;
  /**
   * Resolves when the container runtime reports that it pins these. Rejects with a DaemonError; a repeated call
   * continues.
   */
  put(next: readonly DesiredSet[], signal: AbortSignal): Promise<void>;
  /** From now on this daemon manages the pins, and removes them when no set is assigned. */
  claim(): Promise<void>;
  /** Call this when nothing is pinned: the machine then counts as one that never pinned anything. */
  forget(): Promise<void>;
}

export async function openPinnedState({
  files,
  containers,
}: Pick<Host, 'files'> & { readonly containers: Pick<ContainerRuntime, 'pin' | 'isSetToPin'> }): Promise<PinnedState> {
  const memory = await readPinMemory(files);
  let isOurs = memory !== null;
  /** The runtime may be configured for the next sets without applying them yet. */
  let isUnsure = memory !== null && memory.next !== null;
  let pinned = memory?.pinned ?? [];
  if (memory !== null && memory.next !== null && (await containers.isSetToPin(listImages(memory.next))))
    pinned = memory.next;

  async function put(next: readonly DesiredSet[], signal: AbortSignal): Promise<void> {
    isUnsure = true;
    await writePinMemory(files, { pinned, next });
    await containers.pin(listImages(next), signal);
    await writePinMemory(files, { pinned: next, next: null });
    pinned = next;
    isUnsure = false;
  }

  return {
    pinned: () => pinned,
    isOurs: () => isOurs,
    async isSettled(images) {
      const wanted = listImages(pinned);
      return !isUnsure && findUnpinned(wanted, images).length === 0 && containers.isSetToPin(wanted);
    },
    put,
    async claim() {
      if (isOurs) return;
      await writePinMemory(files, { pinned, next: null });
      isOurs = true;
    },
    async forget() {
      await removePinMemory(files);
      isOurs = false;
    },
  };
}

const listImages = (sets: readonly DesiredSet[]): string[] => sets.flatMap(({ images }) => images);

// The pinned sets, stored on the machine's disk independently of the cluster and intact after any crash.

export interface PinMemory {
  /** The container runtime was seen to pin these. */
  readonly pinned: readonly DesiredSet[];
  /** Being applied instead of those. Null: no change is in progress. */
  readonly next: readonly DesiredSet[] | null;
}

const PATH = `${STATE_DIRECTORY}/pinned-images.json`;
/** A hundred sets of 500 images with long names. */
const MAX_PIN_MEMORY_BYTES = 32 * 1024 * 1024;

const desiredSets: Decoder<DesiredSet[]> = array(
  object({ name: string(), uid: string(), generation: number(), images: array(string()) }),
);
const memoryFile = stateFileCodec<PinMemory>({
  decoder: object({ pinned: desiredSets, next: orNull(desiredSets) }),
  maxChars: MAX_PIN_MEMORY_BYTES,
  toJson: ({ pinned, next }) => ({ pinned, ...(next !== null && { next }) }),
});

/** Null: this machine has never pinned anything, or the file cannot be read. */
export async function readPinMemory(files: FileSystem): Promise<PinMemory | null> {
  if ((await files.lookAt(PATH)) === null) return null;
  const contents = await files.read(PATH, MAX_PIN_MEMORY_BYTES).catch(() => '');
  const memory = memoryFile.decode(contents);
  return memory.ok ? memory.value : null;
}

const writePinMemory = (files: FileSystem, memory: PinMemory): Promise<void> =>
  writeStateFile(files, PATH, memoryFile.encode(memory));

async function removePinMemory(files: FileSystem): Promise<void> {
  await removeUnfinished(files, PATH);
  if ((await files.lookAt(PATH)) === null) return;
  await files.remove(PATH);
  await files.syncDirectory(STATE_DIRECTORY);
}
