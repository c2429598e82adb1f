import type { KubeObject, Resource } from '@slipway/kube';

export interface ConfigMap extends KubeObject {
  data?: Record<string, string>;
}

export const configMaps: Resource<ConfigMap> = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  namespaced: true,
};
