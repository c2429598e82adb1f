// Clusters serve some kinds in different versions, and an upgrade of their provider changes which. This finds the one to
// ask for, by discovery.
import { isRecord } from '@slipway/base/json';
import { isKubeError } from './errors.ts';
import { formatApiVersion, type KubeObject, type Resource, resourceId } from './resource.ts';
import type { Transport } from './transport.ts';

/** Remembers what it has found: an API server is asked once for each resource, not before each request. */
export interface ServedVersions {
  /** The resource in the newest of its versions that the server serves; unchanged if it serves none, or has only one. */
  find<T extends KubeObject>(resource: Resource<T>, signal: AbortSignal | undefined): Promise<Resource<T>>;
  /** The server has refused the version that was found: discovers again next time. */
  forget(resource: Resource): void;
}

export function createServedVersions(transport: Transport): ServedVersions {
  const found = new Map<string, string>();

  return {
    async find(resource, signal) {
      const { newerVersions = [] } = resource;
      if (newerVersions.length === 0) return resource;
      const known = found.get(resourceId(resource));
      if (known !== undefined) return { ...resource, version: known };
      for (const version of [...newerVersions, resource.version]) {
        const candidate = { ...resource, version };
        if (!(await isServed(transport, candidate, signal))) continue;
        found.set(resourceId(resource), version);
        return candidate;
      }
      return resource;
    },
    forget(resource) {
      found.delete(resourceId(resource));
    },
  };
}

/** Whether the server serves the resource in its version. Every authenticated user may ask this. */
export async function isServed(
  transport: Transport,
  resource: Resource,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const apiVersion = formatApiVersion(resource);
  const path = `/${resource.group === '' ? 'api' : 'apis'}/${apiVersion}`;
  try {
    const list = await transport.json({ method: 'GET', path, retry: 'always', what: `discover ${apiVersion}`, signal });
    const kinds: unknown = isRecord(list) ? list['resources'] : undefined;
    return Array.isArray(kinds) && kinds.some((kind) => isRecord(kind) && kind['name'] === resource.plural);
  } catch (error) {
    if (isKubeError(error, 'SLW_KUBE_KIND_NOT_INSTALLED')) return false;
    throw error;
  }
}
