// The operating system of a simulated machine. The booted and the staged deployment are in one file, so that a boot is
// a single step.
import { randomUUID } from 'node:crypto';
import { posix } from 'node:path';
import { array, boolean, decode, type Decoder, nullable, object, optional, string } from '@slipway/base/codec';
import { isEqual } from '@slipway/base/equal';
import { DaemonError } from '@slipway/daemon';
import {
  changeKernelArguments,
  changePackages,
  type Deployment,
  describeOS,
  parseDigest,
  type FileSystem,
  makeDirectories,
  type OperatingSystem,
  type OSChange,
  type OSState,
  type Owners,
  readOSFacts,
  readText,
  removeUnfinished,
  replaceFile,
} from '@slipway/daemon/host';
import { recordAction } from './systemd.ts';

export interface MachineState extends OSState {
  readonly bootId: string;
  readonly fips: boolean;
}

const STATE = '/var/lib/slipway-simulated/os.json';
const MAX_STATE_BYTES = 1024 * 1024;

const deployment: Decoder<Deployment> = object({
  image: string(),
  digest: string(),
  version: string(),
  kernelArguments: array(string()),
  packages: array(string()),
  checksum: optional(string()),
});
const machineState: Decoder<MachineState> = object({
  bootId: string(),
  fips: boolean,
  booted: deployment,
  staged: nullable(deployment),
});

export function createSimulatedOS(files: FileSystem, owners: Owners): OperatingSystem {
  async function setStaged(staged: Deployment | null): Promise<void> {
    const state = await readState(files);
    if (isEqual(state.staged, staged)) return removeUnfinished(files, STATE);
    await writeState(files, owners, { ...state, staged });
  }

  return {
    describe: () => describeOS(files),

    facts: () => readOSFacts(files, 'all'),

    async state() {
      const { booted, staged } = await readState(files);
      return { booted, staged };
    },

    fips: async () => (await readState(files)).fips,

    missing: (images) => Promise.resolve(images),

    // Nothing is downloaded, so the space of the real disk does not matter.
    store: () => Promise.resolve({ path: '/var/lib/containers', freeBytes: 100e9, sizeBytes: 120e9 }),

    async prefetch(images, onProgress, signal) {
      for (const [index, image] of images.entries()) {
        signal.throwIfAborted();
        onProgress({ text: `Pulling ${image}`, done: index, total: images.length });
        await recordAction(files, owners, { what: 'prefetch', name: image });
      }
    },

    async stage(change) {
      const { booted } = await readState(files);
      const next = changeDeployment(booted, change);
      await setStaged(isEqual(next, booted) ? null : next);
    },

    discard: () => setStaged(null),
  };
}

function changeDeployment(booted: Deployment, change: OSChange): Deployment {
  const image = change.image ?? booted.image;
  const packages = changePackages(booted.packages, change);
  // Packages from another extensions image differ, even with the same names.
  const checksum = packages.length === 0 ? '' : (change.extensionsImage ?? booted.checksum ?? '');
  return {
    ...booted,
    checksum,
    image,
    digest: image === booted.image ? booted.digest : parseDigest(image),
    kernelArguments: changeKernelArguments(
      booted.kernelArguments,
      change.kernelArguments ?? { removed: [], added: [] },
    ),
    packages,
  };
}

export function createState(options: {
  readonly osImage?: string;
  readonly kernelArguments?: readonly string[];
  readonly fips?: boolean;
}): MachineState {
  const image = options.osImage ?? '';
  return {
    bootId: randomUUID(),
    fips: options.fips ?? false,
    booted: {
      image,
      digest: parseDigest(image),
      version: 'simulated',
      kernelArguments: ['root=UUID=simulated', ...(options.kernelArguments ?? [])],
      packages: [],
      checksum: '',
    },
    staged: null,
  };
}

export async function hasState(files: FileSystem): Promise<boolean> {
  return (await files.lookAt(STATE)) !== null;
}

export async function readState(files: FileSystem): Promise<MachineState> {
  const text = await readText(files, STATE, MAX_STATE_BYTES);
  if (text === undefined) {
    throw new DaemonError(
      'SLW_DAEMON_HOST',
      `There is no simulated machine here: ${STATE} is missing. Create one first.`,
    );
  }
  const state = decode(machineState, text, { maxChars: MAX_STATE_BYTES });
  if (state.ok) return state.value;
  throw new DaemonError(
    'SLW_DAEMON_HOST',
    `${STATE} of the simulated machine cannot be parsed: expected the JSON that Slipway wrote. Recreate the machine.`,
  );
}

export async function writeState(files: FileSystem, owners: Owners, state: MachineState): Promise<void> {
  await makeDirectories(files, posix.dirname(STATE), owners);
  const bytes = Buffer.from(`${JSON.stringify(state, undefined, 2)}\n`);
  await replaceFile(files, STATE, { ...owners, bytes, mode: 0o644 });
}
