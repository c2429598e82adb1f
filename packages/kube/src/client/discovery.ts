// Which kinds the API server serves. Every authenticated user may ask. A 403 leaves it open: it is also the answer about a
// kind that does not exist.
import { isKubeError } from './errors.ts';
import type { Transport } from './transport.ts';

export interface DiscoveryOptions {
  readonly signal?: AbortSignal | undefined;
}

/** The plurals of the kinds in an API such as `apps/v1`, and of their subresources. */
export async function listServedKinds(
  transport: Transport,
  api: string,
  { signal }: DiscoveryOptions = {},
): Promise<ReadonlySet<string>> {
  try {
    const answer = await transport.json({
      method: 'GET',
      path: `/apis/${api}`,
      what: `list the kinds of ${api}`,
      retry: 'never',
      signal,
    });
    const { resources = [] } = answer as { resources?: { name: string }[] };
    return new Set(resources.map(({ name }) => name));
  } catch (error) {
    if (isKubeError(error, 'SLW_KUBE_KIND_NOT_INSTALLED', 'SLW_KUBE_NOT_FOUND')) return new Set();
    throw error;
  }
}
