// CRI-O: its socket, and how to configure its pins.
import { posix } from 'node:path';
import { type Backoff, backoffMs } from '@slipway/base/backoff';
import { systemClock } from '@slipway/base/clock';
import { listNames } from '@slipway/base/text';
import { DaemonError } from '../../errors.ts';
import { type ContainerRuntime, findUnpinned, type RuntimeDriver, type RuntimeOptions } from '../container-runtime.ts';
import {
  type FileSystem,
  makeDirectories,
  ownOwners,
  readText,
  removeUnfinished,
  replaceFile,
} from '../file-system.ts';
import { summarize } from '../run-command.ts';
import { createCriCalls, type CriCalls } from './cri-calls.ts';

/** The path /var/run/crio/crio.sock contains a link that may be absolute, and so may lead out of a mounted root. */
const SOCKET = '/run/crio/crio.sock';
const UNIT = 'crio';

/** Includes the connection. */
export type Crio = ContainerRuntime & CriCalls;

export const crioDriver: RuntimeDriver = {
  isOn: async (files) => (await files.lookAt('/etc/crio')) !== null,
  open: createCrio,
};

export function createCrio({ root, files, reload, restart, socket = posix.join(root, SOCKET) }: RuntimeOptions): Crio {
  const calls = createCriCalls({ name: 'CRI-O', unit: UNIT, socket }, files);

  async function readConfiguration(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    await reload(`${UNIT}.service`).catch((error: unknown) => {
      throw notReloaded(error);
    });
  }

  return {
    ...calls,
    ...createCrioPins({ files, images: calls.images, reload: readConfiguration }),
    // CRI-O checks for a cancelled pull only between layers, and unpacks each to its end. When it starts, it removes
    // layers that are incomplete.
    abandonPulls: () => restart(`${UNIT}.service`),
  };
}

/** A unit that is not running means that the runtime does not respond. systemd not responding is a different error. */
function notReloaded(error: unknown): unknown {
  if (!(error instanceof DaemonError) || error.code !== 'SLW_DAEMON_UNIT') return error;
  return new DaemonError(
    'SLW_PINNING_RUNTIME',
    `The container runtime did not reload its configuration. ${summarize(error.message, 600)}`,
    { cause: error },
  );
}

// Pins. A drop-in file lists the images that CRI-O pins. CRI-O reads it when its unit is reloaded.

export const DROP_IN = '/etc/crio/crio.conf.d/50-pinned-images';
/** A hundred sets of 500 images with long names. */
const MAX_DROP_IN_BYTES = 32 * 1024 * 1024;
const PINNED_WITHIN_MS = 10_000;
/** CRI-O reads its files shortly after the reload. */
const LOOK: Backoff = { firstMs: 10, maxMs: 200 };

export interface CrioPinsOptions extends Pick<ContainerRuntime, 'images'> {
  readonly files: FileSystem;
  /** Makes CRI-O reload its configuration. */
  readonly reload: (signal: AbortSignal) => Promise<void>;
}

export function createCrioPins({
  files,
  images,
  reload,
}: CrioPinsOptions): Pick<ContainerRuntime, 'pin' | 'isSetToPin'> {
  const read = async (): Promise<string | null> => (await readText(files, DROP_IN, MAX_DROP_IN_BYTES)) ?? null;

  async function write(text: string | null): Promise<void> {
    if ((await read()) === text) return removeUnfinished(files, DROP_IN);
    const directory = posix.dirname(DROP_IN);
    if (text === null) {
      await removeUnfinished(files, DROP_IN);
      await files.remove(DROP_IN);
      return files.syncDirectory(directory);
    }
    await makeDirectories(files, directory, ownOwners());
    await replaceFile(files, DROP_IN, { ...ownOwners(), mode: 0o644, bytes: Buffer.from(text) });
  }

  async function waitUntilPinned(wanted: readonly string[], signal: AbortSignal): Promise<void> {
    const until = performance.now() + PINNED_WITHIN_MS;
    for (let looks = 1; ; looks += 1) {
      const unpinned = findUnpinned(wanted, await images(signal));
      if (unpinned.length === 0) return;
      if (performance.now() > until) throw stillNotPinned(unpinned);
      await systemClock.sleep(backoffMs(LOOK, looks), signal);
    }
  }

  return {
    async pin(wanted, signal) {
      await write(formatDropIn(wanted));
      await reload(signal);
      await waitUntilPinned(sortNames(wanted), signal);
    },
    isSetToPin: async (wanted) => (await read()) === formatDropIn(wanted),
  };
}

/** The same images always produce the same text. Null: nothing is pinned, and there is no file. */
export function formatDropIn(images: readonly string[]): string | null {
  if (images.length === 0) return null;
  const lines = sortNames(images).map((image) => `  ${JSON.stringify(image)},`);
  return [HEAD, '[crio.image]', 'pinned_images = [', ...lines, ']', ''].join('\n');
}

/** Sorted, without duplicates. */
const sortNames = (images: readonly string[]): string[] => [...new Set(images)].toSorted();

const HEAD =
  '# Written by the machine config daemon from the PinnedImageSets of this node: changes made here are lost.';

function stillNotPinned(unpinned: readonly string[]): DaemonError {
  return new DaemonError(
    'SLW_PINNING_NOT_PINNED',
    `${DROP_IN} lists ${listNames(unpinned, { max: 1 })}, and the container runtime was reloaded, but does not report it as pinned. ` +
      'Another file in that directory may also set pinned_images: only the last one counts. Check `journalctl -u crio` on the ' +
      'machine for errors',
  );
}
