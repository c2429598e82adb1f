// What the daemon asks of the container runtime of a machine.
import type { SizedImage } from '@slipway/fleet';
import type { Space } from './file-system.ts';

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
  /** Makes it read its configuration again. */
  reload(signal: AbortSignal): Promise<void>;
  /** Only of a simulated one, whose images no registry has: for others, the registry says it. */
  readonly sizeOf?: (image: string) => SizedImage;
}
