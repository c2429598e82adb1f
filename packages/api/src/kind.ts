import type { Static, TObject } from 'typebox';
import type { ObjectMeta } from './object-meta.ts';

/** An object whose fields, except apiVersion, kind and metadata, follow the schema S. */
export type ObjectOf<S extends TObject> = { apiVersion?: string; kind?: string; metadata: ObjectMeta } & Static<S>;

/** A column of `kubectl get`. */
export interface Column {
  name: string;
  type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  jsonPath: string;
  description?: string;
  /** 0: always shown. Higher: only with `-o wide`. */
  priority?: number;
}

export interface KindVersion {
  name: string;
  /** The object without apiVersion, kind and metadata. */
  schema: TObject;
  columns?: Column[];
  /** Whether status is a subresource, with a separate permission. */
  status?: boolean;
  scale?: Scale;
}

export interface Kind<T = unknown> {
  group: string;
  kind: string;
  plural: string;
  namespaced: boolean;
  shortNames?: string[];
  categories?: string[];
  /**
   * `own`: we ship the CRD. `compat`: normally the platform, Metal3 or Cluster API ships it, and ours is installed only
   * if it is absent. `test`: only our tests install it.
   */
  install: 'own' | 'compat' | 'test';
  /** The first is the storage version. Without conversion, a field must mean the same in all versions. */
  versions: readonly [KindVersion, ...KindVersion[]];
  /** Never set: carries the object's type, so that `validate(kind, value)` returns a typed object. */
  readonly type?: T;
}

/** The API endpoint of a kind, for the client. */
export interface Resource<T> {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  /** Versions that controllers can read and write as well, newest first: the client uses the first that is served. */
  readonly newerVersions?: readonly string[];
  /** Never set: carries the object's type, so that `client.get(pools, …)` returns a pool. */
  readonly type?: T;
}

export const formatCrdName = (kind: Pick<Kind, 'group' | 'plural'>): string => `${kind.plural}.${kind.group}`;

/** The resource for the version of a kind that controllers read and write. */
export const toResource = <T>(
  { group, kind, plural, namespaced }: Kind<T>,
  version: string,
  newerVersions: readonly string[] = [],
): Resource<T> => ({
  group,
  version,
  kind,
  plural,
  namespaced,
  ...(newerVersions.length > 0 && { newerVersions }),
});

/** For `kubectl scale` and autoscalers. */
export interface Scale {
  specReplicasPath: string;
  statusReplicasPath: string;
  labelSelectorPath: string;
}

export const replicasScale = (labelSelectorPath: string): Scale => ({
  specReplicasPath: '.spec.replicas',
  statusReplicasPath: '.status.replicas',
  labelSelectorPath,
});

export const ageColumn: Column = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' };

/** Shows the status of a condition. The column has the name of the condition by default. */
export const conditionColumn = (
  condition: string,
  { name = condition, ...options }: Partial<Pick<Column, 'name' | 'priority' | 'description'>> = {},
): Column => ({
  name,
  type: 'string',
  jsonPath: `.status.conditions[?(@.type=="${condition}")].status`,
  ...options,
});
