// What the daemon asks of the container runtime of a machine.
import type { SizedImage } from '@slipway/fleet';
import type { FileSystem, Space } from './file-system.ts';

export interface RuntimeImage {
  /** As the runtime names it: of the image's config. */
  readonly id: string;
  /** registry/name@sha256:… by which it is known. */
  readonly digests: readonly string[];
  readonly tags: readonly string[];
  readonly isPinned: boolean;
  /** On the disk. */
  readonly size: number;
}

/** The file system that images are on. */
export interface ImageStore extends Space {
  readonly path: string;
}

export interface RegistryCredential {
  readonly username: string;
  readonly password: string;
}

export interface ContainerRuntime {
  /** For people: `cri-o 1.34.0`. */
  describe(signal: AbortSignal): Promise<string>;
  images(signal: AbortSignal): Promise<readonly RuntimeImage[]>;
  store(signal: AbortSignal): Promise<ImageStore>;
  /**
   * Resolves when the image is there. Rejects with a DaemonError: SLW_PINNING_NO_SPACE where the disk is full,
   * SLW_PINNING_RUNTIME where the runtime does not answer, SLW_PINNING_PULL for all else, with what the runtime said and
   * without credentials.
   */
  pull(image: string, credential: RegistryCredential | null, signal: AbortSignal): Promise<void>;
  /**
   * Keeps these images, and no others, from being deleted when space is freed: those that are there, and those that come. Resolves
   * when the runtime says so of all that are there; doing it again goes on where it was cut off. Rejects with a DaemonError:
   * SLW_PINNING_RUNTIME where the runtime does not answer, SLW_PINNING_NOT_PINNED where it was told and does not keep them.
   */
  pin(images: readonly string[], signal: AbortSignal): Promise<void>;
  /** Whether it is set to pin these and no others. It may not go by that yet. */
  isSetToPin(images: readonly string[]): Promise<boolean>;
  /** Only of a simulated one, whose images no registry has: for others, the registry says it. */
  readonly sizeOf?: (image: string) => SizedImage;
}

export interface RuntimeOptions {
  /** Where the machine's root is mounted. */
  readonly root: string;
  /** The same machine's. */
  readonly files: FileSystem;
  /** Another socket than that below the root. */
  readonly socket?: string;
  /** As `systemctl reload UNIT` does it. */
  readonly reload: (unit: string) => Promise<void>;
}

/** A runtime that the daemon can drive: a file in cri/, and a line in RUNTIMES of real-host.ts. */
export interface RuntimeDriver {
  isOn(files: FileSystem): Promise<boolean>;
  open(options: RuntimeOptions): ContainerRuntime;
}

/** Of the wanted images, those that the runtime has and does not keep. */
export function findUnpinned(wanted: readonly string[], images: readonly RuntimeImage[]): string[] {
  const unpinned = new Set(images.filter(({ isPinned }) => !isPinned).flatMap(({ digests }) => digests));
  return wanted.filter((image) => unpinned.has(image));
}
