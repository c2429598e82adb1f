// The calls that are the same for every CRI runtime. The gRPC library takes about 4 MB, so it is loaded with the first
// call: a machine that pins nothing never loads it.
import type { ContainerRuntime, RuntimeImage } from '../container-runtime.ts';
import type { FileSystem } from '../file-system.ts';
import { type CalledRuntime, type CallFailure, pullFailure, runtimeFailure } from './call-failure.ts';

const VERSION_MS = 10_000;
/** The runtime inspects every image in the store, possibly during ten pulls. */
const STORE_MS = 60_000;

/** Everything except pins, which each runtime configures differently. */
export interface CriCalls extends Pick<ContainerRuntime, 'describe' | 'images' | 'store' | 'measure' | 'pull'> {
  /** Closes the connection. The next call opens another one. */
  close(): Promise<void>;
}

type CriClient = Awaited<ReturnType<typeof openClient>>;

export function createCriCalls(called: CalledRuntime, files: Pick<FileSystem, 'space'>): CriCalls {
  let client: Promise<CriClient> | undefined;
  const open = () => (client ??= openClient(called.socket));

  async function callRuntime<T>(what: string, act: (runtime: CriClient) => Promise<T>): Promise<T> {
    const runtime = await open();
    return act(runtime).catch((error: unknown) => {
      throw error instanceof runtime.CallError ? runtimeFailure(what, error, called) : error;
    });
  }

  return {
    async images(signal) {
      const { images } = await callRuntime('list its images', ({ connection, methods }) =>
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

    async describe(signal) {
      const { runtimeName, runtimeVersion } = await callRuntime('report its version', ({ connection, methods }) =>
        connection.call(methods.version, {}, { withinMs: VERSION_MS, signal }),
      );
      return `${runtimeName} ${runtimeVersion}`;
    },

    async store(signal) {
      const what = 'report where it stores images';
      const { imageFilesystems } = await callRuntime(what, ({ connection, methods }) =>
        connection.call(methods.imageFsInfo, {}, { withinMs: STORE_MS, signal }),
      );
      const path = imageFilesystems[0]?.fsId?.mountpoint ?? '';
      if (path === '') throw runtimeFailure(what, NO_PLACE, called);
      // The runtime reports used space, not free space.
      return { path, ...(await files.space(path)) };
    },

    measure: async ({ path }) => ({ path, ...(await files.space(path)) }),

    async pull(image, credential, signal) {
      const { connection, methods, CallError } = await open();
      const request = { image: { image }, ...(credential && { auth: credential }) };
      try {
        await connection.call(methods.pullImage, request, { withinMs: null, signal });
      } catch (error) {
        throw error instanceof CallError ? pullFailure(image, error, credential, called) : error;
      }
    },

    async close() {
      const closed = client;
      client = undefined;
      (await closed)?.connection.close();
    },
  };
}

const NO_PLACE: CallFailure = { code: 2, said: 'it named no file system' };

async function openClient(socket: string) {
  const { CallError, connect, methods } = await import('./connection.ts');
  return { CallError, connection: connect(socket), methods };
}
