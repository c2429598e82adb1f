import { silentProgress, terminalProgress } from '@slipway/tools/controlplane';
import type { Io } from '../ignition/io.ts';
import { openRegistry } from '../open-registry.ts';
import { tellProblems } from '../tell-problems.ts';
import type { RegistryFlags } from '../registry-options.ts';
import { isTerminal } from '../terminal/paint.ts';
import { imageSizes } from './image-sizes.ts';
import { makeSets, type MakeOptions } from './make-sets.ts';
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
