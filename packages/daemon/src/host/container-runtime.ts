// What the daemon needs from a machine's container runtime.
import type { SizedImage } from '@slipway/fleet';
import type { FileSystem, Space } from './file-system.ts';

export interface RuntimeImage {
  /** The runtime's ID: the digest of the image's config. */
  readonly id: string;
  /** Its references, registry/name@sha256:…. */
  readonly digests: readonly string[];
  readonly tags: readonly string[];
  readonly isPinned: boolean;
  /** On the disk. */
  readonly size: number;
}

/** The file system that stores images. */
export interface ImageStore extends Space {
  readonly path: string;
}

export interface RegistryCredential {
  readonly username: string;
  readonly password: string;
}

export interface ContainerRuntime {
  /** Human-readable, for example `cri-o 1.34.0`. */
  describe(signal: AbortSignal): Promise<string>;
  images(signal: AbortSignal): Promise<readonly RuntimeImage[]>;
  store(signal: AbortSignal): Promise<ImageStore>;
  /** The same file system now. Unlike `store`, it does not ask the runtime, and takes less than a millisecond. */
  measure(store: ImageStore): Promise<ImageStore>;
  /**
   * Resolves when the image is present. Rejects with a DaemonError: SLW_PINNING_NO_SPACE if the disk is full,
   * SLW_PINNING_RUNTIME if the runtime does not respond, SLW_PINNING_PULL otherwise, with the runtime's message and
   * without credentials.
   */
  pull(image: string, credential: RegistryCredential | null, signal: AbortSignal): Promise<void>;
  /**
   * Ends what the runtime still does for cancelled pulls, and removes what they have written. A last resort: everything
   * else that the runtime does at that moment fails once. Containers continue to run.
   */
  abandonPulls(): Promise<void>;
  /**
   * Protects exactly these images, present or future, from garbage collection. Resolves when the runtime reports all
   * present ones as pinned. A repeated call continues an interrupted one. Rejects with a DaemonError:
   * SLW_PINNING_RUNTIME if the runtime does not respond, SLW_PINNING_NOT_PINNED if it does not pin them.
   */
  pin(images: readonly string[], signal: AbortSignal): Promise<void>;
  /** Whether the runtime is configured to pin exactly these. It may not have applied that yet. */
  isSetToPin(images: readonly string[]): Promise<boolean>;
  /** Only for a simulated runtime, whose images are in no registry. */
  readonly sizeOf?: (image: string) => SizedImage;
}

export interface RuntimeOptions {
  /** Where the machine's root is mounted. */
  readonly root: string;
  /** The file system of the same machine. */
  readonly files: FileSystem;
  /** A socket other than the one below the root. */
  readonly socket?: string;
  /** Like `systemctl reload UNIT`. */
  readonly reload: (unit: string) => Promise<void>;
  /** Like `systemctl restart UNIT`. */
  readonly restart: (unit: string) => Promise<void>;
}

/** A runtime that the daemon supports: a file in cri/, and a line in RUNTIMES of real-host.ts. */
export interface RuntimeDriver {
  isOn(files: FileSystem): Promise<boolean>;
  open(options: RuntimeOptions): ContainerRuntime;
}

/** The desired images that the runtime has but does not pin. */
export function findUnpinned(wanted: readonly string[], images: readonly RuntimeImage[]): string[] {
  const unpinned = new Set(images.filter(({ isPinned }) => !isPinned).flatMap(({ digests }) => digests));
  return wanted.filter((image) => unpinned.has(image));
}
