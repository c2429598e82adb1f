// Puts pins in force, and knows which are. Killed at any moment, the file of the container runtime names the sets from before or
// those after, and the next run knows which.
import { posix } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { DaemonError } from '../errors.ts';
import type { RuntimeImage } from '../host/container-runtime.ts';
import type { Host } from '../host/host.ts';
import { makeDirectories } from '../host/make-directories.ts';
import { ownOwners } from '../host/own-owners.ts';
import { readText } from '../host/read-text.ts';
import { removeUnfinished, replaceFile } from '../host/replace-file.ts';
import { DROP_IN, dropInOf, imagesOf } from './drop-in.ts';
import { readPinMemory, removePinMemory, writePinMemory } from './pin-memory.ts';
import type { WantedSet } from './wanted-set.ts';

export interface PinsInForce {
  /** By name. */
  pinned(): readonly WantedSet[];
  /** False: this machine was never asked to pin anything, and the file of the container runtime is not ours. */
  isOurs(): boolean;
  /** Whether the runtime goes by what is pinned, as these images of it say, or has to be told again. */
  isSettled(images: readonly RuntimeImage[]): Promise<boolean>;
  /** Resolves when the container runtime says that it keeps these. Rejects with a DaemonError; doing it again goes on. */
  put(next: readonly WantedSet[], signal: AbortSignal): Promise<void>;
  /** From now on pins are for this daemon to put, and to take away when nobody asks for them any more. */
  claim(): Promise<void>;
  /** Nothing is pinned, and this machine has never pinned anything. */
  forget(): Promise<void>;
}

const PINNED_WITHIN_MS = 10_000;
/** It reads its files a moment after it was told to. */
const LOOK_FIRST_MS = 10;
const LOOK_EVERY_MS = 200;
/** A hundred sets of 500 images with long names. */
const MOST_BYTES = 32 * 1024 * 1024;

export async function openPinsInForce({ files, containers }: Pick<Host, 'files' | 'containers'>): Promise<PinsInForce> {
  const memory = await readPinMemory(files);
  let isOurs = memory !== null;
  /** The runtime may not have read its file since that was written. */
  let isUnsure = memory !== null && memory.next !== null;
  let pinned = memory?.pinned ?? [];
  if (memory !== null && memory.next !== null && (await readDropIn()) === dropInOf(memory.next)) pinned = memory.next;

  async function readDropIn(): Promise<string | null> {
    return (await readText(files, DROP_IN, MOST_BYTES)) ?? null;
  }

  async function writeDropIn(text: string | null): Promise<void> {
    if ((await readDropIn()) === text) return removeUnfinished(files, DROP_IN);
    const directory = posix.dirname(DROP_IN);
    if (text === null) {
      await removeUnfinished(files, DROP_IN);
      await files.remove(DROP_IN);
      return files.syncDirectory(directory);
    }
    await makeDirectories(files, directory, ownOwners());
    await replaceFile(files, DROP_IN, { ...ownOwners(), mode: 0o644, bytes: Buffer.from(text) });
  }

  async function put(next: readonly WantedSet[], signal: AbortSignal): Promise<void> {
    isUnsure = true;
    await writePinMemory(files, { pinned, next });
    await writeDropIn(dropInOf(next));
    await containers.reload(signal);
    await waitUntilPinned(imagesOf(next), signal);
    await writePinMemory(files, { pinned: next, next: null });
    pinned = next;
    isUnsure = false;
  }

  async function waitUntilPinned(wanted: readonly string[], signal: AbortSignal): Promise<void> {
    const until = performance.now() + PINNED_WITHIN_MS;
    for (let pauseMs = LOOK_FIRST_MS; ; pauseMs = Math.min(pauseMs * 2, LOOK_EVERY_MS)) {
      const unpinned = notPinned(wanted, await containers.images(signal));
      if (unpinned.length === 0) return;
      if (performance.now() > until) throw stillNotPinned(unpinned);
      await wait(pauseMs, undefined, { signal });
    }
  }

  return {
    pinned: () => pinned,
    isOurs: () => isOurs,
    async isSettled(images) {
      if (isUnsure || notPinned(imagesOf(pinned), images).length > 0) return false;
      return (await readDropIn()) === dropInOf(pinned);
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

/** Of those that are there. */
function notPinned(wanted: readonly string[], images: readonly RuntimeImage[]): string[] {
  const unpinned = new Set(images.filter(({ isPinned }) => !isPinned).flatMap(({ digests }) => digests));
  return wanted.filter((image) => unpinned.has(image));
}

function stillNotPinned([first = '', ...others]: readonly string[]): DaemonError {
  const more = others.length === 0 ? '' : ` and ${others.length} more`;
  return new DaemonError(
    'SLW_PINNING_NOT_PINNED',
    `${DROP_IN} names ${first}${more}, and the container runtime was told to read it, but does not report it as pinned. ` +
      'Another file in that directory may set pinned_images as well: the last one counts, alone. `journalctl -u crio` on the ' +
      'machine says whether it could read them',
  );
}
