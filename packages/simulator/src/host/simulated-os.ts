import { isDeepStrictEqual } from 'node:util';
import {
  changeKernelArguments,
  changePackages,
  type Deployment,
  describeOS,
  digestOf,
  type FileSystem,
  type OperatingSystem,
  type OSChange,
  type Owners,
  removeUnfinished,
} from '@slipway/daemon/host';
import { noteDone } from './done.ts';
import { readState, STATE, writeState } from './machine-state.ts';

export function createSimulatedOS(files: FileSystem, owners: Owners): OperatingSystem {
  async function setStaged(staged: Deployment | null): Promise<void> {
    const state = await readState(files);
    if (isDeepStrictEqual(state.staged, staged)) return removeUnfinished(files, STATE);
    await writeState(files, owners, { ...state, staged });
  }

  return {
    describe: () => describeOS(files),

    async state() {
      const { booted, staged } = await readState(files);
      return { booted, staged };
    },

    fips: async () => (await readState(files)).fips,

    missing: (images) => Promise.resolve(images),

    // Nothing is downloaded: how much room the disk below has is nobody's business.
    store: () => Promise.resolve({ path: '/var/lib/containers', freeBytes: 100e9, sizeBytes: 120e9 }),

    async prefetch(images, onProgress, signal) {
      for (const [index, image] of images.entries()) {
        signal.throwIfAborted();
        onProgress({ text: `Pulling ${image}`, done: index, total: images.length });
        await noteDone(files, owners, { what: 'prefetch', name: image });
      }
    },

    async stage(change) {
      const { booted } = await readState(files);
      const next = changeDeployment(booted, change);
      await setStaged(isDeepStrictEqual(next, booted) ? null : next);
    },

    discard: () => setStaged(null),
  };
}

function changeDeployment(booted: Deployment, change: OSChange): Deployment {
  const image = change.image ?? booted.image;
  const packages = changePackages(booted.packages, change);
  // Those of another extensions image are other packages, though of the same names.
  const checksum = packages.length === 0 ? '' : (change.extensionsImage ?? booted.checksum ?? '');
  return {
    ...booted,
    checksum,
    image,
    digest: image === booted.image ? booted.digest : digestOf(image),
    kernelArguments: changeKernelArguments(
      booted.kernelArguments,
      change.kernelArguments ?? { removed: [], added: [] },
    ),
    packages,
  };
}
