import { basename } from 'node:path';
import { silentProgress, terminalProgress } from '@slipway/tools/controlplane';
import { CommandError } from '../cli/errors.ts';
import { type Io, readSmallFile } from '../cli/io.ts';
import { openRegistry } from '../cli/registry.ts';
import { tellProblems } from '../cli/run.ts';
import { isTerminal } from '../cli/terminal.ts';
import { readImageList } from './image-list.ts';
import { imageSizes } from './image-sizes.ts';
import { makeSets } from './make-sets.ts';
import type { WantedImages } from './plan-sets.ts';
import type { ReleaseOptions } from './release.ts';
import { nameFrom } from './set-name.ts';

export const runPinImages = (file: string, options: ReleaseOptions, io: Io): Promise<void> =>
  tellProblems(io, async () => {
    const images = readImageList(new TextDecoder().decode(await readSmallFile('FILE', file)));
    const name = nameOf(file, options);
    const ask = async (): Promise<WantedImages> => ({
      source: { file },
      name,
      images,
      sizes: options.sizes ? await sizesOf(images, options, io) : null,
    });
    await makeSets(ask, options, io);
  });

function nameOf(file: string, { name, pool }: ReleaseOptions): string {
  if (name !== undefined) return name;
  const from = nameFrom(basename(file).replace(/\.[^.]*$/, ''));
  if (from !== '') return `${from}-${pool}`;
  throw new CommandError(
    'SLW_CLI_USAGE',
    `slipway pin images ${file}: no name can be made of this one. Add --name NAME`,
  );
}

async function sizesOf(images: readonly string[], options: ReleaseOptions, io: Io): Promise<WantedImages['sizes']> {
  const registry = await openRegistry(options);
  const progress = isTerminal(io.stderr) ? terminalProgress() : silentProgress;
  try {
    return await imageSizes(images, registry, (done) =>
      progress.update(`asks for images: ${done} of ${images.length}`),
    );
  } finally {
    progress.clear();
    await registry.close();
  }
}
