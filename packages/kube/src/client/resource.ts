/** The API that serves a kind. Two resources with equal group, version and plural are the same resource. */
export interface Resource<T extends KubeObject = KubeObject> {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  /**
   * Versions that callers can read and write as well, newest first: requests use the first that the server serves, and
   * `version` if it serves none. Objects name the version that they were read in.
   */
  readonly newerVersions?: readonly string[];
  /** Never set: carries the object's type, so that `client.get(nodes, …)` returns a Node. */
  readonly type?: T;
}

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

export interface ObjectMeta {
  name: string;
  namespace?: string;
  generateName?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: OwnerReference[];
}

export interface KubeObject {
  apiVersion?: string;
  kind?: string;
  metadata: ObjectMeta;
}

/** An object received from the server: it has an identity and a version. */
export type Stored<T extends KubeObject> = T & { metadata: { uid: string; resourceVersion: string } };

export const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** Every object of the API has these; anything else did not come from an API server. */
export function isStored<T extends KubeObject>(object: Partial<KubeObject> | null | undefined): object is Stored<T> {
  const metadata: Partial<ObjectMeta> | undefined = object?.metadata;
  return isText(metadata?.name) && isText(metadata.uid) && isText(metadata.resourceVersion);
}

/**
 * Items in a list of a built-in kind lack kind and apiVersion, and metadata-only items have kind PartialObjectMetadata.
 * This sets the requested kind on each.
 */
export function nameKind<T extends KubeObject>(object: Stored<T>, resource: Resource<T>): Stored<T> {
  object.apiVersion = formatApiVersion(resource);
  object.kind = resource.kind;
  return object;
}

/** Names one object of a resource: `name` or `namespace/name`. */
export type Key = string;

export interface Name {
  name: string;
  namespace?: string;
}

export const formatApiVersion = (resource: Resource): string =>
  resource.group === '' ? resource.version : `${resource.group}/${resource.version}`;

export const resourceId = (resource: Resource): string =>
  resource.group === '' ? resource.plural : `${resource.plural}.${resource.group}`;

export const keyOf = (object: KubeObject): Key =>
  object.metadata.namespace === undefined
    ? object.metadata.name
    : `${object.metadata.namespace}/${object.metadata.name}`;

export function parseKey(key: Key): Name {
  const slash = key.indexOf('/');
  return slash === -1 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

export interface PathOptions {
  namespace?: string | undefined;
  name?: string | undefined;
  subresource?: string | undefined;
}

export function buildApiPath(resource: Resource, { namespace, name, subresource }: PathOptions = {}): string {
  const base = resource.group === '' ? `/api/${resource.version}` : `/apis/${resource.group}/${resource.version}`;
  const scope = namespace === undefined ? '' : `/namespaces/${encodeURIComponent(namespace)}`;
  const object = name === undefined ? '' : `/${encodeURIComponent(name)}`;
  return `${base}${scope}/${resource.plural}${object}${subresource === undefined ? '' : `/${subresource}`}`;
}
