// Writes that carry their precondition and field manager: the first is read from the object that is passed in, the
// second belongs to the writer.
import type { Client, CallOptions, DeleteOptions, Patch, Precondition, WriteOptions } from './client.ts';
import { isKubeError } from './errors.ts';
import { keyOf, type KubeObject, type Name, type Resource, resourceId, type Stored } from './resource.ts';
import { type Clock, systemClock } from '@slipway/base/clock';

/** What a write changes: an object in the version that was read, or `anyVersion` of it. */
export type Target = Stored<KubeObject> | AnyVersion;

/** Created by `anyVersion`. */
export interface AnyVersion {
  readonly metadata: Name & { readonly uid?: string };
  readonly anyVersion: true;
}

/**
 * For a write that must succeed whatever others have changed since: it applies to any version of the object with this
 * UID, or with this name if there is no UID.
 */
export const anyVersion = ({ name, namespace, uid }: Name & { readonly uid?: string | undefined }): AnyVersion => ({
  metadata: { name, ...(namespace !== undefined && { namespace }), ...(uid !== undefined && { uid }) },
  anyVersion: true,
});

export interface PatchOptions extends CallOptions {
  subresource?: WriteOptions['subresource'];
}

export interface ApplyFieldsOptions extends PatchOptions {
  /** Takes over fields that other field managers own; without it those are conflicts. */
  force?: boolean | undefined;
}

/** Each write fails with SLW_KUBE_CONFLICT if the object has been replaced or changed since it was read. */
export interface Writer {
  /** A JSON merge patch: null removes a field, a list replaces the old one. */
  patch<T extends KubeObject>(
    resource: Resource<T>,
    object: Target,
    body: object,
    options?: PatchOptions,
  ): Promise<Stored<T>>;
  /** A merge patch of these status fields. */
  patchStatus<T extends KubeObject>(
    resource: Resource<T>,
    object: Target,
    status: object,
    options?: CallOptions,
  ): Promise<Stored<T>>;
  /**
   * A merge patch that is skipped if the last one of this object was less than `minIntervalMs` ago. Then it returns
   * undefined, and a controller's key is requeued for when the patch is due.
   */
  patchThrottled<T extends KubeObject>(
    resource: Resource<T>,
    object: Target,
    body: object,
    options: PatchOptions & { minIntervalMs: number },
  ): Promise<Stored<T> | undefined>;
  jsonPatch<T extends KubeObject>(
    resource: Resource<T>,
    object: Target,
    steps: readonly object[],
    options?: PatchOptions,
  ): Promise<Stored<T>>;
  /** Server-side apply of exactly these fields; fields this manager applied earlier and omits now are removed. */
  apply<T extends KubeObject>(
    resource: Resource<T>,
    object: Target,
    fields: Partial<T> & KubeObject,
    options?: ApplyFieldsOptions,
  ): Promise<Stored<T>>;
  create<T extends KubeObject>(resource: Resource<T>, object: T, options?: CallOptions): Promise<Stored<T>>;
  /** Returns undefined if an object with that name exists; that object is not changed. */
  createIfAbsent<T extends KubeObject>(
    resource: Resource<T>,
    object: T,
    options?: CallOptions,
  ): Promise<Stored<T> | undefined>;
  /** Succeeds also if the object is already gone or another one has taken its name. */
  remove(resource: Resource, object: Target, options?: DeleteOptions): Promise<void>;
}

/** A write that the server has confirmed. */
export interface LandedWrite {
  readonly type: 'created' | 'changed';
  readonly resource: Resource;
  readonly object: Stored<KubeObject>;
}

export interface WriterOptions {
  /** Recorded by the server as the owner of the written fields. */
  fieldManager: string;
  onWrite?: ((write: LandedWrite) => void) | undefined;
  /** Shared by writers that are throttled together. */
  throttle?: Throttle | undefined;
  /** A write was skipped and may be repeated after this time. */
  onThrottled?: ((waitMs: number) => void) | undefined;
}

/** For programs without controllers; a controller has a writer in its context. */
export function createWriter(client: Client, options: WriterOptions): Writer {
  const { fieldManager, onWrite, throttle = createThrottle(), onThrottled } = options;

  async function landed<T extends KubeObject>(
    type: LandedWrite['type'],
    resource: Resource<T>,
    write: Promise<Stored<T>>,
  ): Promise<Stored<T>> {
    const object = await write;
    onWrite?.({ type, resource, object });
    return object;
  }

  const sendPatch = <T extends KubeObject>(
    resource: Resource<T>,
    object: Target,
    patch: Patch,
    options: PatchOptions = {},
  ): Promise<Stored<T>> =>
    landed(
      'changed',
      resource,
      client.patch(resource, object.metadata, patch, toPrecondition(object), { ...options, fieldManager }),
    );

  const create = <T extends KubeObject>(
    resource: Resource<T>,
    object: T,
    options: CallOptions = {},
  ): Promise<Stored<T>> => landed('created', resource, client.create(resource, object, { ...options, fieldManager }));

  return {
    patch: (resource, object, body, options) => sendPatch(resource, object, { type: 'merge', body }, options),
    patchStatus: (resource, object, status, options) =>
      sendPatch(resource, object, { type: 'merge', body: { status } }, { ...options, subresource: 'status' }),
    async patchThrottled(resource, object, body, { minIntervalMs, ...rest }) {
      const waitMs = throttle.waitMs(resource, object, minIntervalMs);
      if (waitMs > 0) {
        onThrottled?.(waitMs);
        return undefined;
      }
      const written = await sendPatch(resource, object, { type: 'merge', body }, rest);
      throttle.passed(resource, object);
      return written;
    },
    jsonPatch: (resource, object, steps, options) =>
      sendPatch(resource, object, { type: 'json', body: steps }, options),
    apply: (resource, object, fields, options = {}) =>
      landed('changed', resource, client.apply(resource, fields, toPrecondition(object), { ...options, fieldManager })),
    create,
    async createIfAbsent(resource, object, options) {
      try {
        return await create(resource, object, options);
      } catch (error) {
        if (isKubeError(error, 'SLW_KUBE_ALREADY_EXISTS')) return undefined;
        throw error;
      }
    },
    async remove(resource, object, options) {
      try {
        await client.delete(resource, object.metadata, toPrecondition(object), options);
      } catch (error) {
        // On a UID mismatch the object is gone and another one has its name.
        const isGone = isKubeError(error, 'SLW_KUBE_NOT_FOUND', ...('anyVersion' in object ? conflict : []));
        if (!isGone) throw error;
      }
    },
  };
}

const conflict = ['SLW_KUBE_CONFLICT'] as const;

/**
 * Repeats the work, including its reads, after another client changed the object, and throws the conflict of the last
 * attempt. Controllers do not need it: their keys are requeued.
 */
export async function retryOnConflict<T>(work: () => Promise<T>, maxTries = 3): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (tries >= maxTries || !isKubeError(error, 'SLW_KUBE_CONFLICT')) throw error;
    }
  }
}

function toPrecondition(object: Target): Precondition {
  const { uid } = object.metadata;
  return 'anyVersion' in object ? { uid } : { uid, resourceVersion: object.metadata.resourceVersion };
}

export interface Throttle {
  /** Milliseconds until the object may be written again. */
  waitMs(resource: Resource, object: Target, minIntervalMs: number): number;
  /** Records a write. */
  passed(resource: Resource, object: Target): void;
}

const MAX_REMEMBERED = 1000;

/** Remembers when objects were last written, for `patchThrottled`. */
export function createThrottle(clock: Pick<Clock, 'now'> = systemClock): Throttle {
  /** Oldest first. */
  const written = new Map<string, number>();
  const formatId = (resource: Resource, object: Target): string => `${resourceId(resource)} ${keyOf(object)}`;
  return {
    waitMs(resource, object, minIntervalMs) {
      const last = written.get(formatId(resource, object));
      return last === undefined ? 0 : Math.max(0, last + minIntervalMs - clock.now());
    },
    passed(resource, object) {
      const id = formatId(resource, object);
      written.delete(id);
      written.set(id, clock.now());
      const [oldest] = written.keys();
      if (written.size > MAX_REMEMBERED && oldest !== undefined) written.delete(oldest);
    },
  };
}
