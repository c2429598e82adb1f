// CRI-O: where it is, and how it is told which images to keep.
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
import { shorten } from '../run-command.ts';
import { createCriCalls, type CriCalls } from './cri-calls.ts';

/** Also known as /var/run/crio/crio.sock, but that goes through a link which may be absolute, and so lead out of a root. */
const SOCKET = '/run/crio/crio.sock';
const UNIT = 'crio';

/** With its connection. */
export type Crio = ContainerRuntime & CriCalls;

export const crioDriver: RuntimeDriver = {
  isOn: async (files) => (await files.lookAt('/etc/crio')) !== null,
  open: createCrio,
};

export function createCrio({ root, files, reload, socket = posix.join(root, SOCKET) }: RuntimeOptions): Crio {
  const calls = createCriCalls({ name: 'CRI-O', unit: UNIT, socket }, files);

  async function readConfiguration(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    await reload(`${UNIT}.service`).catch((error: unknown) => {
      throw notReloaded(error);
    });
  }

  return { ...calls, ...createCrioPins({ files, images: calls.images, reload: readConfiguration }) };
}

/** A unit that does not run is a runtime that does not answer; that systemd does not answer is another matter. */
function notReloaded(error: unknown): unknown {
  if (!(error instanceof DaemonError) || error.code !== 'SLW_DAEMON_UNIT') return error;
  return new DaemonError(
    'SLW_PINNING_RUNTIME',
    `The container runtime did not read its configuration again. ${shorten(error.message, 1000)}`,
    { cause: error },
  );
}

// Pins. A file of its configuration tells CRI-O which images to keep; it reads that again when its unit is reloaded.

export const DROP_IN = '/etc/crio/crio.conf.d/50-pinned-images';
/** A hundred sets of 500 images with long names. */
const MAX_DROP_IN_BYTES = 32 * 1024 * 1024;
const PINNED_WITHIN_MS = 10_000;
/** It reads its files a moment after it was told to. */
const LOOK: Backoff = { firstMs: 10, maxMs: 200 };

export interface CrioPinsOptions extends Pick<ContainerRuntime, 'images'> {
  readonly files: FileSystem;
  /** Makes CRI-O read its configuration again. */
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

/** The same images always give the same text. Null: nothing is pinned, and there is no file. */
export function formatDropIn(images: readonly string[]): string | null {
  if (images.length === 0) return null;
  const lines = sortNames(images).map((image) => `  ${JSON.stringify(image)},`);
  return [HEAD, '[crio.image]', 'pinned_images = [', ...lines, ']', ''].join('\n');
}

/** Each once. */
const sortNames = (images: readonly string[]): string[] => [...new Set(images)].toSorted();

const HEAD =
  '# Written by the machine config daemon from the PinnedImageSets of this node: changes made here are lost.';

function stillNotPinned(unpinned: readonly string[]): DaemonError {
  return new DaemonError(
    'SLW_PINNING_NOT_PINNED',
    `${DROP_IN} names ${listNames(unpinned, { max: 1 })}, and the container runtime was told to read it, but does not report it as pinned. ` +
      'Another file in that directory may set pinned_images as well: the last one counts, alone. `journalctl -u crio` on the ' +
      'machine says whether it could read them',
  );
}
