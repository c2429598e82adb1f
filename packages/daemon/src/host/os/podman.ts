import { truncate } from '@slipway/base/text';
import type { FileSystem } from '../file-system.ts';
import type { Progress } from '../host.ts';
import type { Run } from '../run-command.ts';
import type { OSRun } from './os-commands.ts';

const PULL_SECRET = '/var/lib/kubelet/config.json';
const SHORT_MS = 60_000;
const MAX_LINE_CHARS = 200;
/** A fixed name, so that a container left by an earlier attempt is found. */
const CONTAINER = 'slipway-extensions';

export interface Podman {
  /** False also if there is no podman. */
  hasImage(image: string): Promise<boolean>;
  /** The images that `pull` would pull. */
  missing(images: readonly string[]): Promise<readonly string[]>;
  /** Does nothing without podman: the OS tool then pulls during the change. */
  pull(image: string, onProgress: (progress: Progress) => void, signal?: AbortSignal): Promise<void>;
  /** Copies all files of an image into an existing directory of the machine. */
  copyOut(image: string, directory: string): Promise<void>;
}

export function createPodman({ files, run, attempt }: { files: FileSystem; run: Run; attempt: OSRun }): Podman {
  const isThere = once(async () => (await run(podman('--version'))).status === 0);

  async function hasImage(image: string): Promise<boolean> {
    return (await isThere()) && (await run(podman('image', 'exists', image))).status === 0;
  }

  return {
    hasImage,

    async missing(images) {
      if (!(await isThere())) return [];
      const there = await Promise.all(images.map(hasImage));
      return images.filter((_, index) => there[index] === false);
    },

    async pull(image, onProgress, signal) {
      if (!(await isThere()))
        return onProgress({ text: `There is no podman on this machine: ${image} is pulled during the OS change` });
      if (await hasImage(image)) return onProgress({ text: `${image} is already present` });
      const hasSecret = (await files.lookAt(PULL_SECRET)) !== null;
      const pull = ['podman', 'pull', ...(hasSecret ? ['--authfile', PULL_SECRET] : []), image];
      onProgress({ text: `Pulling ${image}` });
      // At low priority, because workloads are still running.
      await attempt({
        program: 'nice',
        args: ['--', 'ionice', '-c', '3', ...pull],
        failing: `The image ${image} cannot be pulled`,
        onLine: (line) => onProgress({ text: truncate(line, MAX_LINE_CHARS) }),
        ...(signal && { signal }),
      });
    },

    async copyOut(image, directory) {
      const failing = `The files of the image ${image} cannot be extracted`;
      await run(podman('rm', '--force', '--ignore', CONTAINER));
      await attempt({ program: 'podman', args: ['create', '--net=none', '--name', CONTAINER, image], failing });
      try {
        await attempt({ program: 'podman', args: ['cp', `${CONTAINER}:/`, directory], failing });
      } finally {
        await run(podman('rm', '--force', '--ignore', CONTAINER));
      }
    },
  };
}

function podman(...args: string[]) {
  return { program: 'podman', args, timeoutMs: SHORT_MS };
}

function once<T>(query: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | undefined;
  return () => (answer ??= query());
}
