// Puts pins in force, and knows which are. Killed at any moment, the container runtime is set to the sets from before or to those
// after, and the next run knows which.
import { findUnpinned, type RuntimeImage } from '../host/container-runtime.ts';
import type { Host } from '../host/host.ts';
import { readPinMemory, removePinMemory, writePinMemory } from './pin-memory.ts';
import type { WantedSet } from './wanted-set.ts';

export interface PinsInForce {
  /** By name. */
  pinned(): readonly WantedSet[];
  /** False: this machine was never asked to pin anything, and what its runtime pins is not ours. */
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

export async function openPinsInForce({ files, containers }: Pick<Host, 'files' | 'containers'>): Promise<PinsInForce> {
  const memory = await readPinMemory(files);
  let isOurs = memory !== null;
  /** The runtime may be set to the next ones and not go by it yet. */
  let isUnsure = memory !== null && memory.next !== null;
  let pinned = memory?.pinned ?? [];
  if (memory !== null && memory.next !== null && (await containers.isSetToPin(imagesOf(memory.next))))
    pinned = memory.next;

  async function put(next: readonly WantedSet[], signal: AbortSignal): Promise<void> {
    isUnsure = true;
    await writePinMemory(files, { pinned, next });
    await containers.pin(imagesOf(next), signal);
    await writePinMemory(files, { pinned: next, next: null });
    pinned = next;
    isUnsure = false;
  }

  return {
    pinned: () => pinned,
    isOurs: () => isOurs,
    async isSettled(images) {
      const wanted = imagesOf(pinned);
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

const imagesOf = (sets: readonly WantedSet[]): string[] => sets.flatMap(({ images }) => images);
