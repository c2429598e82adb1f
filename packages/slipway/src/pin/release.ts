import { silentProgress, terminalProgress } from '@slipway/tools/controlplane';
import type { Io } from '../cli/io.ts';
import type { RegistryFlags } from '../cli/options.ts';
import { openRegistry } from '../cli/registry.ts';
import { tellProblems } from '../cli/run.ts';
import { isTerminal } from '../cli/terminal.ts';
import { imageSizes } from './image-sizes.ts';
import { type MakeOptions, makeSets } from './make-sets.ts';
import type { WantedImages } from './plan-sets.ts';
import { releaseImages } from './release-images.ts';
import { nameFrom } from './set-name.ts';

export interface ReleaseOptions extends MakeOptions, RegistryFlags {
  name?: string;
  /** False: --no-sizes. */
  sizes: boolean;
}

export const runPinRelease = (image: string, options: ReleaseOptions, io: Io): Promise<void> =>
  tellProblems(io, () => makeSets(() => imagesOf(image, options, io), options, io));

async function imagesOf(asked: string, options: ReleaseOptions, io: Io): Promise<WantedImages> {
  const registry = await openRegistry(options);
  const progress = isTerminal(io.stderr) ? terminalProgress() : silentProgress;
  try {
    progress.update(`reads the list of images out of ${asked}`);
    const { release, version, images } = await releaseImages(asked, registry);
    const onDone = (done: number): void => progress.update(`asks for images: ${done} of ${images.length}`);
    return {
      source: { release, version },
      name: options.name ?? ['release', nameFrom(version ?? ''), options.pool].filter(Boolean).join('-'),
      images,
      sizes: options.sizes ? await imageSizes(images, registry, onDone) : null,
    };
  } finally {
    progress.clear();
    await registry.close();
  }
}
