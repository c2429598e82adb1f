import type { KubeObject, Resource } from './resource.ts';

/** Which objects are meant, and how much of each. */
export interface Scope<T extends KubeObject> {
  resource: Resource<T>;
  namespace?: string | undefined;
  labelSelector?: string | undefined;
  fieldSelector?: string | undefined;
  /** `metadata`: the server sends PartialObjectMetadata, a tenth of the bytes of a Node. */
  as?: 'full' | 'metadata' | undefined;
}

export function selectorsOf(scope: Scope<KubeObject>): Record<string, string> {
  return {
    ...(scope.labelSelector === undefined ? {} : { labelSelector: scope.labelSelector }),
    ...(scope.fieldSelector === undefined ? {} : { fieldSelector: scope.fieldSelector }),
  };
}

export function acceptOf(scope: Scope<KubeObject>, call: 'list' | 'watch'): string {
  if (scope.as !== 'metadata') return 'application/json';
  return `application/json;as=PartialObjectMetadata${call === 'list' ? 'List' : ''};g=meta.k8s.io;v=v1`;
}
