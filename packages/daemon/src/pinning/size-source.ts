// Who says how large an image is: its registry, or the simulated machine whose images no registry has.
import type { SizedImage } from '@slipway/fleet';
import { DaemonError } from '../errors.ts';
import type { Host } from '../host/host.ts';
import { readRegistryOptions } from './registry-access.ts';

export interface SizeSource {
  /** Rejects with a DaemonError SLW_PINNING_SIZES. */
  sizeOf(image: string, signal: AbortSignal): Promise<SizedImage>;
  /** Connections, and the login that was read: both are made anew when something is asked for again. */
  rest(): Promise<void>;
}

const AT_ONCE = 8;
/** An image that cannot be sized is tried again by who asked. */
const RETRIES = 1;

export function openSizeSource({ files, containers }: Pick<Host, 'files' | 'containers'>): SizeSource {
  const { sizeOf } = containers;
  if (sizeOf !== undefined) {
    return { sizeOf: (image) => Promise.resolve(sizeOf(image)), rest: () => Promise.resolve() };
  }
  let opening: ReturnType<typeof open> | null = null;

  async function open() {
    const { createRegistry } = await import('@slipway/registry');
    return createRegistry({ ...(await readRegistryOptions(files)), atOnce: AT_ONCE, retries: RETRIES });
  }

  return {
    async sizeOf(image, signal) {
      try {
        const layers = await (await (opening ??= open())).layers(image, { signal });
        return { layers: layers.map(({ digest, size }) => ({ digest, size })) };
      } catch (error) {
        signal.throwIfAborted();
        throw asProblem(image, error);
      }
    },
    async rest() {
      const registry = await opening?.catch(() => null);
      opening = null;
      await registry?.close();
    },
  };
}

function asProblem(image: string, error: unknown): unknown {
  if (!(error instanceof Error) || !('code' in error) || !String(error.code).startsWith('SLW_')) return error;
  const said = error.message.replaceAll(`${image}: `, '');
  return new DaemonError(
    'SLW_PINNING_SIZES',
    `how large ${image} is cannot be found out, and so it is not pulled: ${said} (${String(error.code)})`,
    { cause: error },
  );
}
