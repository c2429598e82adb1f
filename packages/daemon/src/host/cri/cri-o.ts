// CRI-O by its socket. What speaks gRPC takes some 4 MB: it is loaded with the first call, so that a machine that pins nothing
// never has it.
import { posix } from 'node:path';
import { DaemonError } from '../../errors.ts';
import type { ContainerRuntime, RuntimeImage } from '../container-runtime.ts';
import type { FileSystem } from '../file-system.ts';
import { shorten } from '../run-command.ts';
import { type CallFailure, pullFailure, runtimeFailure } from './call-failure.ts';

/** Also known as /var/run/crio/crio.sock, but that goes through a link which may be absolute, and so lead out of a root. */
const SOCKET = '/run/crio/crio.sock';
const VERSION_MS = 10_000;
/** CRI-O looks at every image of the store, and may be pulling ten others. */
const STORE_MS = 60_000;

export interface CrioOptions {
  /** Where the machine's root is mounted. */
  readonly root: string;
  /** The same machine's. */
  readonly files: FileSystem;
  /** Another socket than that below the root. */
  readonly socket?: string;
  /** As `systemctl reload crio` does it. */
  readonly reload: () => Promise<void>;
}

export interface Crio extends ContainerRuntime {
  /** The connection; the next call makes another one. */
  close(): Promise<void>;
}

type Speaking = Awaited<ReturnType<typeof speak>>;

export function createCrio({ root, files, reload, ...options }: CrioOptions): Crio {
  const socket = options.socket ?? posix.join(root, SOCKET);
  let speaking: Promise<Speaking> | undefined;
  const open = () => (speaking ??= speak(socket));

  async function ask<T>(what: string, act: (crio: Speaking) => Promise<T>): Promise<T> {
    const crio = await open();
    return act(crio).catch((error: unknown) => {
      throw error instanceof crio.CallError ? runtimeFailure(what, error, socket) : error;
    });
  }

  return {
    async describe(signal) {
      const { runtimeName, runtimeVersion } = await ask('tell its version', ({ connection, methods }) =>
        connection.call(methods.version, {}, { withinMs: VERSION_MS, signal }),
      );
      return `${runtimeName} ${runtimeVersion}`;
    },

    async images(signal) {
      const { images } = await ask('list its images', ({ connection, methods }) =>
        connection.call(methods.listImages, {}, { withinMs: STORE_MS, signal }),
      );
      return images.map(({ id, repoDigests, repoTags, pinned, size }): RuntimeImage => ({
        id,
        digests: repoDigests,
        tags: repoTags,
        isPinned: pinned,
        size,
      }));
    },

    async store(signal) {
      const what = 'tell where it keeps images';
      const { imageFilesystems } = await ask(what, ({ connection, methods }) =>
        connection.call(methods.imageFsInfo, {}, { withinMs: STORE_MS, signal }),
      );
      const path = imageFilesystems[0]?.fsId?.mountpoint ?? '';
      if (path === '') throw runtimeFailure(what, NO_PLACE, socket);
      // Its own figures are of what is used, and not of what is free.
      return { path, ...(await files.space(path)) };
    },

    async pull(image, credential, signal) {
      const { connection, methods, CallError } = await open();
      const request = { image: { image }, ...(credential && { auth: credential }) };
      try {
        await connection.call(methods.pullImage, request, { withinMs: null, signal });
      } catch (error) {
        throw error instanceof CallError ? pullFailure(image, error, credential, socket) : error;
      }
    },

    async reload(signal) {
      signal.throwIfAborted();
      await reload().catch((error: unknown) => {
        throw notReloaded(error);
      });
    },

    async close() {
      const closed = speaking;
      speaking = undefined;
      (await closed)?.connection.close();
    },
  };
}

const NO_PLACE: CallFailure = { code: 2, said: 'it named no file system' };

async function speak(socket: string) {
  const [{ CallError, connect }, { methods }] = await Promise.all([import('./connection.ts'), import('./messages.ts')]);
  return { CallError, connection: connect(socket), methods };
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
