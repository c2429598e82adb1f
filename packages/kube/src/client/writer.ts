// Writes that say on what they were decided and who made them: the precondition comes from the object that is handed in, the
// field manager from the writer.
import type { Client, CallOptions, DeleteOptions, Patch, Precondition, WriteOptions } from './client.ts';
import { isKubeError } from './errors.ts';
import { keyOf, type KubeObject, type Name, type Resource, resourceId, type Stored } from './resource.ts';
import { type Clock, systemClock } from '@slipway/base/clock';

/** What a write is about: an object in the version that was read, or `anyVersion` of it. */
export type Target = Stored<KubeObject> | AnyVersion;

/** Made by `anyVersion`. */
export interface AnyVersion {
  readonly metadata: Name & { readonly uid?: string };
  readonly anyVersion: true;
}

/**
 * For a write that counts whatever others have written since: it lands on any version of the object with this UID or,
 * without one, of this name.
 */
export const anyVersion = ({ name, namespace, uid }: Name & { readonly uid?: string | undefined }): AnyVersion => ({
  metadata: { name, ...(namespace !== undefined && { namespace }), ...(uid !== undefined && { uid }) },
  anyVersion: true,
});

export interface PatchOptions extends CallOptions {
  subresource?: WriteOptions['subresource'];
}

export interface ApplyFieldsOptions extends PatchOptions {
  /** Takes fields over that other field managers have set; without it they are a conflict. */
  force?: boolean | undefined;
}

/** Each write fails with SLW_KUBE_CONFLICT where the object is no longer the one, in the version, that was handed in. */
export interface Writer {
  /** A JSON merge patch: null removes a field, a list takes the place of the old one. */
  patch<T extends KubeObject>(
    resource: Resource<T>,
    object: Target,
    body: object,
    options?: PatchOptions,
  ): Promise<Stored<T>>;
  /** A merge patch of these fields of the status. */
  patchStatus<T extends KubeObject>(
    resource: Resource<T>,
    object: Target,
    status: object,
    options?: CallOptions,
  ): Promise<Stored<T>>;
  /**
   * A merge patch that is left out where the last one of this object was less than `minIntervalMs` ago: then undefined is
   * given, and in a controller the key runs again when it is time.
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
  /** Server-side apply of exactly these fields; what this field manager applied before and is not among them goes. */
  apply<T extends KubeObject>(
    resource: Resource<T>,
    object: Target,
    fields: Partial<T> & KubeObject,
    options?: ApplyFieldsOptions,
  ): Promise<Stored<T>>;
  create<T extends KubeObject>(resource: Resource<T>, object: T, options?: CallOptions): Promise<Stored<T>>;
  /** Undefined: there is one of that name, which stays as it is. */
  createIfAbsent<T extends KubeObject>(
    resource: Resource<T>,
    object: T,
    options?: CallOptions,
  ): Promise<Stored<T> | undefined>;
  /** Fine where the object is gone already, also where another one has its name by now. */
  remove(resource: Resource, object: Target, options?: DeleteOptions): Promise<void>;
}

/** A write that the server has answered. */
export interface LandedWrite {
  readonly type: 'created' | 'changed';
  readonly resource: Resource;
  readonly object: Stored<KubeObject>;
}

export interface WriterOptions {
  /** Whom the server notes as the owner of the fields that are written. */
  fieldManager: string;
  onWrite?: ((write: LandedWrite) => void) | undefined;
  /** Shared by writers that are throttled together. */
  throttle?: Throttle | undefined;
  /** A write was left out, and can be made after this time. */
  onThrottled?: ((waitMs: number) => void) | undefined;
}

/** Controllers have one in their context; this is for programs that are none. */
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
        // A UID that does not fit: the object is gone, and its name is another one's.
        const isGone = isKubeError(error, 'SLW_KUBE_NOT_FOUND', ...('anyVersion' in object ? conflict : []));
        if (!isGone) throw error;
      }
    },
  };
}

const conflict = ['SLW_KUBE_CONFLICT'] as const;

/**
 * Does the work again, from its reading on, where another client has changed the object since; the conflict of the last try is
 * thrown. In a controller it is not needed: its key runs again.
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
  /** Milliseconds until so much time has passed since the object's last write. */
  waitMs(resource: Resource, object: Target, minIntervalMs: number): number;
  /** It has been written. */
  passed(resource: Resource, object: Target): void;
}

const MAX_REMEMBERED = 1000;

/** When objects were last written, for `patchThrottled`. */
export function createThrottle(clock: Pick<Clock, 'now'> = systemClock): Throttle {
  /** The oldest first. */
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
