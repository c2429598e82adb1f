import { whyRedirectRefused } from '@slipway/ignition';
import { createRegistry, type Registry, type RegistryOptions } from '@slipway/registry';
import type { LayerFile, LayerSpec, RegistryAccess } from '@slipway/tools/registry';

/** Clients of registries, closed together after a test. */
export class Clients {
  readonly #open: Registry[] = [];

  /** One that trusts this registry, knows its password and tries once, unless told otherwise. */
  of({ host, ca, username, password }: RegistryAccess, options: RegistryOptions = {}): Registry {
    const credentials = new Map([[host, { username, password }]]);
    const client = createRegistry({
      ca: ca === '' ? undefined : ca,
      credentials,
      retries: 0,
      redirectRule: whyRedirectRefused,
      ...options,
    });
    this.#open.push(client);
    return client;
  }

  async close(): Promise<void> {
    for (const client of this.#open.splice(0)) await client.close();
  }
}

export const file = (path: string, contents: string): LayerFile => ({ path, contents });

export const layer = (...files: LayerFile[]): LayerSpec => ({ files });

/** A file of an image as text; null where the image has no such file. */
export async function readText(client: Registry, reference: string, path: string): Promise<string | null> {
  const bytes = await client.readFile(reference, path, { maxBytes: 4_000_000 });
  return bytes === null ? null : Buffer.from(bytes).toString('utf8');
}
