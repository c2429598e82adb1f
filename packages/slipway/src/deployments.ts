import type { KubeObject, Resource } from '@slipway/kube';

/** What is read of one: whether it runs, and as whom. */
export interface Deployment extends KubeObject {
  spec?: { replicas?: number; template?: { spec?: { serviceAccountName?: string } } };
}

export const deployments: Resource<Deployment> = {
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  plural: 'deployments',
  namespaced: true,
};
