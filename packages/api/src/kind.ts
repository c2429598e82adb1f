import type { Static, TObject } from 'typebox';
import type { ObjectMeta } from './object-meta.ts';

/** An object of a kind whose fields beside apiVersion, kind and metadata follow the schema S. */
export type ObjectOf<S extends TObject> = { apiVersion?: string; kind?: string; metadata: ObjectMeta } & Static<S>;

/** A column of `kubectl get`. */
export interface Column {
  name: string;
  type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  jsonPath: string;
  description?: string;
  /** 0 is always shown, higher only with `-o wide`. */
  priority?: number;
}

export interface KindVersion {
  name: string;
  /** Everything of the object but apiVersion, kind and metadata. */
  schema: TObject;
  columns?: Column[];
  /** Status has an endpoint, and so a permission, of its own. */
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
   * `own`: we bring the CRD. `compat`: the platform, Metal3 or Cluster API normally bring it; ours is installed only
   * where it is absent. `test`: only our tests install it.
   */
  install: 'own' | 'compat' | 'test';
  /** The first is the stored one. Versions convert by strategy None, so they must agree on what a field means. */
  versions: readonly [KindVersion, ...KindVersion[]];
  /** Never set: carries the object's type, so that `validate(kind, value)` gives an object of it. */
  readonly type?: T;
}

/** Which API a kind is served by; the client takes it. */
export interface Resource<T> {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  /** Never set: carries the object's type, so that `client.get(pools, …)` gives a pool. */
  readonly type?: T;
}

export const formatCrdName = (kind: Pick<Kind, 'group' | 'plural'>): string => `${kind.plural}.${kind.group}`;

/** The resource of one version of a kind: the one controllers read and write. */
export const toResource = <T>({ group, kind, plural, namespaced }: Kind<T>, version: string): Resource<T> => ({
  group,
  version,
  kind,
  plural,
  namespaced,
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

/** Shows whether a condition is True, under the condition's own name unless `name` says otherwise. */
export const conditionColumn = (
  condition: string,
  { name = condition, ...options }: Partial<Pick<Column, 'name' | 'priority' | 'description'>> = {},
): Column => ({
  name,
  type: 'string',
  jsonPath: `.status.conditions[?(@.type=="${condition}")].status`,
  ...options,
});
