import { KubeError } from './errors.ts';
import { createListItemsReader } from './list-items.ts';
import { isStored, nameKind, pathOf, resourceId } from './resource.ts';
import type { KubeObject, Stored } from './resource.ts';
import { acceptOf, selectorsOf } from './scope.ts';
import type { Scope } from './scope.ts';
import type { Transport } from './transport.ts';

export interface ListCall {
  signal?: AbortSignal | undefined;
  /** Objects per request. */
  pageSize?: number | undefined;
}

/**
 * The objects of a scope, in batches as their bytes arrive, and in the end the version to watch from. Memory is
 * bounded by a batch, not by the list.
 */
export async function* listBatches<T extends KubeObject>(
  transport: Transport,
  scope: Scope<T>,
  { signal, pageSize = 5000 }: ListCall,
): AsyncGenerator<Stored<T>[], string, undefined> {
  const what = `list ${resourceId(scope.resource)}`;
  const checked = (items: Stored<T>[]): Stored<T>[] =>
    items.map((item) => {
      if (isStored<T>(item)) return nameKind(item, scope.resource);
      throw new KubeError('SLW_KUBE_BAD_ANSWER', `${what}: an item has no name, UID or version`);
    });
  let token = '';
  for (;;) {
    const body = await transport.open({
      method: 'GET',
      path: pathOf(scope.resource, { namespace: scope.namespace }),
      query: { limit: String(pageSize), ...selectorsOf(scope), ...(token === '' ? {} : { continue: token }) },
      accept: acceptOf(scope, 'list'),
      retry: 'always',
      silenceMs: 30_000,
      what,
      signal,
    });
    const reader = createListItemsReader<T>(what);
    try {
      for await (const chunk of body) {
        const items = reader.push(chunk);
        if (items.length > 0) yield checked(items);
      }
    } finally {
      body.destroy();
    }
    const { items, resourceVersion, continueToken } = reader.finish();
    yield checked(items);
    if (continueToken === '') return resourceVersion;
    token = continueToken;
  }
}
