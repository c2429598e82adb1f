// A container runtime that downloads nothing: an image is present once its name is in a list, after the time that its
// bytes would take. Its failures go through the same code as those of CRI-O.
import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import {
  type CalledRuntime,
  type ContainerRuntime,
  createCrioPins,
  parseDigest,
  type FileSystem,
  type ImageStore,
  type Owners,
  pullFailure,
  runtimeFailure,
  type RuntimeImage,
} from '@slipway/daemon/host';
import type { SizedImage } from '@slipway/fleet';
import {
  isPinnedBy,
  readBehaviour,
  readConfiguredPins,
  readImages,
  readPinned,
  type RuntimeBehaviour,
  writeImages,
  writePinned,
} from './runtime-state.ts';

const STORE = '/var/lib/containers/storage';
const CALLED: CalledRuntime = { name: 'CRI-O', unit: 'crio', socket: 'the simulated machine' };
const DOWN = { code: 14, said: 'the simulated runtime is down' };
const FULL = { code: 2, said: `writing blob: write ${STORE}: no space left on device` };
const UNKNOWN = 2;
/** The maximum of a timer. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export interface SimulatedRuntimeOptions {
  readonly files: FileSystem;
  readonly owners: Owners;
  /** Reloads through systemd, which may refuse. */
  readonly reload: () => Promise<void>;
}

export interface SimulatedRuntime extends ContainerRuntime {
  /** Makes the runtime reload its configuration. */
  reload(signal: AbortSignal): Promise<void>;
}

export function createSimulatedRuntime({ files, owners, ...options }: SimulatedRuntimeOptions): SimulatedRuntime {
  // Concurrent pulls append to the same list.
  let last: Promise<unknown> = Promise.resolve();
  const inSequence = <T>(act: () => Promise<T>): Promise<T> => {
    const turn = last.then(act);
    last = turn.catch(() => undefined);
    return turn;
  };

  async function requireUp(what: string, signal: AbortSignal): Promise<RuntimeBehaviour> {
    signal.throwIfAborted();
    const behaviour = await readBehaviour(files);
    if (behaviour.isDown) throw runtimeFailure(what, DOWN, CALLED);
    return behaviour;
  }

  /** The first read after a boot behaves as if the runtime had just started. */
  async function readPinnedNow(): Promise<readonly string[]> {
    return (await readPinned(files)) ?? readConfiguration();
  }

  async function readConfiguration(): Promise<readonly string[]> {
    const pins = (await readConfiguredPins(files)) ?? (await readPinned(files)) ?? [];
    await writePinned(files, owners, pins);
    return pins;
  }

  async function images(signal: AbortSignal): Promise<readonly RuntimeImage[]> {
    await requireUp('list its images', signal);
    const [names, pins] = [await readImages(files), await inSequence(readPinnedNow)];
    return names.map((name) => toRuntimeImage(name, isPinnedBy(pins, name)));
  }

  async function reload(signal: AbortSignal): Promise<void> {
    await requireUp('reload its configuration', signal);
    await options.reload();
    await inSequence(readConfiguration);
  }

  return {
    ...createCrioPins({ files, images, reload }),
    images,
    reload,

    async describe(signal) {
      await requireUp('report its version', signal);
      return 'simulated';
    },

    async store(signal) {
      const { storeBytes } = await requireUp('report where it stores images', signal);
      return computeStore(storeBytes, await readImages(files));
    },

    measure: async () => computeStore((await readBehaviour(files)).storeBytes, await readImages(files)),
    // A cancelled pull ends immediately and leaves nothing.
    abandonPulls: async () => {},

    async pull(image, _, signal) {
      const { bytesPerSecond, refused, storeBytes } = await requireUp(`pull ${image}`, signal);
      const [, said] = Object.entries(refused).find(([part]) => image.includes(part)) ?? [];
      if (said !== undefined) throw pullFailure(image, { code: UNKNOWN, said }, null, CALLED);
      const present = await readImages(files);
      if (present.includes(image)) return;
      const bytes = computeTransferBytes(image, present);
      if (2 * bytes > computeStore(storeBytes, present).freeBytes) throw pullFailure(image, FULL, null, CALLED);
      if (bytesPerSecond !== null) await waitMs((1000 * bytes) / bytesPerSecond, signal);
      if ((await readBehaviour(files)).isDown) throw pullFailure(image, DOWN, null, CALLED);
      await inSequence(async () => {
        const now = await readImages(files);
        if (!now.includes(image)) await writeImages(files, owners, [...now, image].toSorted());
      });
    },

    sizeOf: simulatedLayers,
  };
}

const toRuntimeImage = (name: string, isPinned: boolean): RuntimeImage => ({
  id: simulatedId(name),
  digests: [name],
  tags: [],
  isPinned,
  size: simulatedSize(name),
});

/** Shared layers are stored once. */
function computeStore(sizeBytes: number, images: readonly string[]): ImageStore {
  const layers = new Map(
    images.flatMap((image) => simulatedLayers(image).layers).map((layer) => [layer.digest, layer]),
  );
  const used = [...layers.values()].reduce((sum, { size }) => sum + 2 * size, 0);
  return { path: STORE, sizeBytes, freeBytes: Math.max(0, sizeBytes - used) };
}

function computeTransferBytes(image: string, present: readonly string[]): number {
  const there = new Set(present.flatMap((name) => simulatedLayers(name).layers.map(({ digest }) => digest)));
  const missing = simulatedLayers(image).layers.filter(({ digest }) => !there.has(digest));
  return missing.reduce((sum, { size }) => sum + size, 0);
}

/** Rejects with the reason of the signal, not with that of the timer. */
const waitMs = (ms: number, signal: AbortSignal): Promise<void> =>
  wait(Math.min(ms, MAX_TIMER_MS), undefined, { signal }).catch(() => signal.throwIfAborted());

// Images that do not exist: the size of each is computed from its name, and so is the same everywhere.

const SMALLEST = 1_000_000;
const SPREAD = 40_000_000;

/** Two layers: one shared by all images of the repository, and one of this image. */
export function simulatedLayers(image: string): SizedImage {
  const [repository = ''] = image.split('@');
  const [shared, own] = [hashText(repository), hashText(parseDigest(image) || image)];
  return { layers: [shared, own].map((hash) => ({ digest: `sha256:${hash}`, size: computeSize(hash) })) };
}

/** The unpacked size, as a runtime reports it. */
const simulatedSize = (image: string): number =>
  2 * simulatedLayers(image).layers.reduce((sum, { size }) => sum + size, 0);

const simulatedId = (image: string): string => hashText(`config of ${image}`);
const computeSize = (hash: string): number => SMALLEST + (Number.parseInt(hash.slice(0, 8), 16) % SPREAD);

function hashText(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
