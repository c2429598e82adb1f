import { isKubeError, KubeError } from './errors.ts';
import { listBatches } from './list.ts';
import { formatApiVersion, buildApiPath } from './resource.ts';
import type { KubeObject, Name, Resource, Stored } from './resource.ts';
import type { Method } from './connections.ts';
import { createServedVersions } from './served-version.ts';
import type { Transport } from './transport.ts';

/** What must still be true of the object for the write to succeed. */
export interface Precondition {
  resourceVersion?: string | undefined;
  uid?: string | undefined;
}

export interface CallOptions {
  signal?: AbortSignal | undefined;
}

export interface ListOptions extends CallOptions {
  namespace?: string | undefined;
  labelSelector?: string | undefined;
  fieldSelector?: string | undefined;
  /** Objects per request. */
  pageSize?: number | undefined;
}

export interface WriteOptions extends CallOptions {
  fieldManager?: string | undefined;
  subresource?: 'status' | 'scale' | undefined;
  dryRun?: boolean | undefined;
}

export type Patch =
  | { type: 'merge'; body: object }
  | { type: 'strategic'; body: object }
  | { type: 'json'; body: readonly object[] };

export interface ApplyOptions extends WriteOptions {
  fieldManager: string;
  force?: boolean | undefined;
}

export interface DeleteOptions extends CallOptions {
  propagationPolicy?: 'Orphan' | 'Background' | 'Foreground' | undefined;
  gracePeriodSeconds?: number | undefined;
}

/** Called before every write; throws to refuse it. `precondition` is the one sent with the write. */
export type WriteGuard = (write: WriteAttempt) => void;

export interface WriteAttempt {
  verb: 'create' | 'patch' | 'apply' | 'delete' | 'evict';
  resource: Resource;
  subresource?: string | undefined;
  name: Name;
  precondition: Precondition;
}

export interface Client {
  get<T extends KubeObject>(resource: Resource<T>, name: Name, options?: CallOptions): Promise<Stored<T>>;
  /** Like get, but returns `undefined` if the object does not exist. */
  find<T extends KubeObject>(resource: Resource<T>, name: Name, options?: CallOptions): Promise<Stored<T> | undefined>;
  /** Yields the objects as they arrive instead of collecting them first. */
  list<T extends KubeObject>(resource: Resource<T>, options?: ListOptions): AsyncGenerator<Stored<T>, void, undefined>;
  create<T extends KubeObject>(resource: Resource<T>, object: T, options?: WriteOptions): Promise<Stored<T>>;
  patch<T extends KubeObject>(
    resource: Resource<T>,
    name: Name,
    patch: Patch,
    precondition: Precondition,
    options?: WriteOptions,
  ): Promise<Stored<T>>;
  /** Server-side apply of exactly the fields in `object`. */
  apply<T extends KubeObject>(
    resource: Resource<T>,
    object: Partial<T> & KubeObject,
    precondition: Precondition,
    options: ApplyOptions,
  ): Promise<Stored<T>>;
  delete(resource: Resource, name: Name, precondition: Precondition, options?: DeleteOptions): Promise<void>;
  /** Requests the eviction of a pod; fails with SLW_KUBE_BLOCKED while a PodDisruptionBudget forbids it. */
  evict(pod: Name, precondition: Precondition, options?: DeleteOptions): Promise<void>;
  /** The same client with one more check before each write, such as leadership or ownership. */
  guarded(guard: WriteGuard): Client;
  readonly transport: Transport;
}

const patchTypes = {
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  json: 'application/json-patch+json',
} as const;

const pods: Resource = { group: '', version: 'v1', kind: 'Pod', plural: 'pods', namespaced: true };

/**
 * A patch carries its precondition in its own metadata: the server compares resourceVersion and UID of the result with
 * the stored object. A JSON patch could use `test`, but the server reports a failed test like a malformed patch.
 */
function withPrecondition(patch: Patch, precondition: Precondition): object {
  const fields = preconditionFields(precondition);
  if (patch.type === 'json') {
    const set = Object.entries(fields).map(([field, value]) => ({ op: 'add', path: `/metadata/${field}`, value }));
    return [...set, ...patch.body];
  }
  const metadata = 'metadata' in patch.body ? (patch.body.metadata as object) : {};
  return { ...patch.body, metadata: { ...metadata, ...fields } };
}

function preconditionFields({ resourceVersion, uid }: Precondition): Precondition {
  return {
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  };
}

interface WriteRequest {
  readonly method: Method;
  readonly path: string;
  readonly query?: Record<string, string>;
  readonly body: object;
  readonly contentType?: string;
}

export function createClient(
  transport: Transport,
  guards: readonly WriteGuard[] = [],
  versions = createServedVersions(transport),
): Client {
  const check = (attempt: WriteAttempt): void => {
    for (const guard of guards) guard(attempt);
  };

  /** Sends a request in the version that the server serves, and once more if that has changed. */
  async function inServedVersion<T extends KubeObject, R>(
    resource: Resource<T>,
    signal: AbortSignal | undefined,
    send: (served: Resource<T>) => Promise<R>,
  ): Promise<R> {
    const served = await versions.find(resource, signal);
    try {
      return await send(served);
    } catch (error) {
      if (!isKubeError(error, 'SLW_KUBE_KIND_NOT_INSTALLED')) throw error;
      versions.forget(resource);
      const other = await versions.find(resource, signal);
      if (other.version === served.version) throw error;
      return send(other);
    }
  }

  async function write<T extends KubeObject>(
    attempt: WriteAttempt,
    buildRequest: (served: Resource) => WriteRequest,
    options: WriteOptions = {},
  ): Promise<Stored<T>> {
    check(attempt);
    const what = `${attempt.verb} ${describe(attempt.resource, attempt.name)}`;
    const answer = await inServedVersion(attempt.resource, options.signal, (served) => {
      const request = buildRequest(served);
      const query = {
        ...request.query,
        ...(options.fieldManager === undefined ? {} : { fieldManager: options.fieldManager }),
        ...(options.dryRun === true ? { dryRun: 'All' } : {}),
      };
      return transport.json({
        ...request,
        query,
        // The guard may have passed before a wait and fail after it.
        beforeSend: () => check(attempt),
        retry: attempt.verb === 'evict' ? 'never' : 'unsent',
        what,
        signal: options.signal,
      });
    });
    return objectIn<T>(answer, what);
  }

  async function get<T extends KubeObject>(
    resource: Resource<T>,
    name: Name,
    options: CallOptions = {},
  ): Promise<Stored<T>> {
    const what = `get ${describe(resource, name)}`;
    const answer = await inServedVersion(resource, options.signal, (served) => {
      const path = buildApiPath(served, name);
      return transport.json({ method: 'GET', path, retry: 'always', what, signal: options.signal });
    });
    return objectIn<T>(answer, what);
  }

  return {
    transport,

    guarded: (guard) => createClient(transport, [...guards, guard], versions),

    get,

    async find(resource, name, options = {}) {
      try {
        return await get(resource, name, options);
      } catch (error) {
        if (error instanceof KubeError && error.code === 'SLW_KUBE_NOT_FOUND') return undefined;
        throw error;
      }
    },

    async *list<T extends KubeObject>(resource: Resource<T>, options: ListOptions = {}) {
      const { batches, first } = await inServedVersion(resource, options.signal, async (served) => {
        const started = listBatches(transport, { ...options, resource: served }, options);
        return { batches: started, first: await started.next() };
      });
      try {
        for (let next = first; next.done !== true; next = await batches.next()) yield* next.value;
      } finally {
        await batches.return('');
      }
    },

    async create<T extends KubeObject>(resource: Resource<T>, object: T, options: WriteOptions = {}) {
      const { namespace } = object.metadata;
      return write<T>(
        { verb: 'create', resource, name: object.metadata, precondition: {} },
        (served) => ({
          method: 'POST',
          path: buildApiPath(served, { namespace }),
          body: { apiVersion: formatApiVersion(served), kind: served.kind, ...object },
        }),
        options,
      );
    },

    async patch<T extends KubeObject>(
      resource: Resource<T>,
      name: Name,
      patch: Patch,
      precondition: Precondition,
      options: WriteOptions = {},
    ) {
      return write<T>(
        { verb: 'patch', resource, name, subresource: options.subresource, precondition },
        (served) => ({
          method: 'PATCH',
          path: buildApiPath(served, { ...name, subresource: options.subresource }),
          body: withPrecondition(patch, precondition),
          contentType: patchTypes[patch.type],
        }),
        options,
      );
    },

    async apply<T extends KubeObject>(
      resource: Resource<T>,
      object: Partial<T> & KubeObject,
      precondition: Precondition,
      options: ApplyOptions,
    ) {
      const { namespace, name } = object.metadata;
      return write<T>(
        { verb: 'apply', resource, name: object.metadata, subresource: options.subresource, precondition },
        (served) => ({
          method: 'PATCH',
          path: buildApiPath(served, { namespace, name, subresource: options.subresource }),
          query: options.force === true ? { force: 'true' } : {},
          body: {
            apiVersion: formatApiVersion(served),
            kind: served.kind,
            ...object,
            metadata: { ...object.metadata, ...preconditionFields(precondition) },
          },
          contentType: 'application/apply-patch+yaml',
        }),
        options,
      );
    },

    async delete(resource, name, precondition, options = {}) {
      await write(
        { verb: 'delete', resource, name, precondition },
        (served) => ({
          method: 'DELETE',
          path: buildApiPath(served, name),
          body: deleteBody(precondition, options),
        }),
        options,
      );
    },

    async evict(pod, precondition, options = {}) {
      await write(
        { verb: 'evict', resource: pods, name: pod, precondition },
        () => ({
          method: 'POST',
          path: buildApiPath(pods, { ...pod, subresource: 'eviction' }),
          body: {
            apiVersion: 'policy/v1',
            kind: 'Eviction',
            metadata: { name: pod.name, namespace: pod.namespace },
            deleteOptions: deleteBody(precondition, options),
          },
        }),
        options,
      );
    },
  };
}

function deleteBody(precondition: Precondition, options: DeleteOptions): object {
  const { propagationPolicy, gracePeriodSeconds } = options;
  return {
    kind: 'DeleteOptions',
    apiVersion: 'v1',
    preconditions: preconditionFields(precondition),
    ...(propagationPolicy === undefined ? {} : { propagationPolicy }),
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
  };
}

const describe = (resource: Resource, name: Name): string =>
  `${resource.kind} ${name.namespace === undefined ? '' : `${name.namespace}/`}${name.name}`;

/** The API server responds with either the object or a Status. */
function objectIn<T extends KubeObject>(answer: unknown, what: string): Stored<T> {
  if (typeof answer === 'object' && answer !== null && !Array.isArray(answer)) return answer as Stored<T>;
  throw new KubeError(
    'SLW_KUBE_BAD_ANSWER',
    `${what}: the response is not a Kubernetes object. Check that the address in the kubeconfig is that of an API server`,
  );
}
