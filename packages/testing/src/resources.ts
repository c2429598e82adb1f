// Kubernetes kinds that only tests and the installation use, and small helpers for objects of any kind.
import {
  type Client,
  type DeleteOptions,
  isKubeError,
  type KubeObject,
  type Name,
  type Resource,
  type Stored,
} from '@slipway/kube';
import { until } from './wait.ts';

export interface CustomResourceDefinition extends KubeObject {
  spec?: object;
  status?: { conditions?: { type: string; status: string }[] };
}

export const customResourceDefinitions: Resource<CustomResourceDefinition> = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  namespaced: false,
};

export interface ApiEvent extends KubeObject {
  type: string;
  reason: string;
  message: string;
  count?: number;
  involvedObject: { kind: string; name: string };
}

const core = { group: '', version: 'v1', namespaced: true } as const;
export const events: Resource<ApiEvent> = { ...core, kind: 'Event', plural: 'events' };
export const serviceAccounts: Resource = { ...core, kind: 'ServiceAccount', plural: 'serviceaccounts' };

const rbac = { group: 'rbac.authorization.k8s.io', version: 'v1', namespaced: false } as const;
export const clusterRoles: Resource<KubeObject & { rules: object[] }> = {
  ...rbac,
  kind: 'ClusterRole',
  plural: 'clusterroles',
};
export const clusterRoleBindings: Resource<KubeObject & { roleRef: object; subjects: object[] }> = {
  ...rbac,
  kind: 'ClusterRoleBinding',
  plural: 'clusterrolebindings',
};

/** Gives a user these rights on these kinds, and no others. */
export async function grant(
  client: Client,
  user: string,
  resources: Resource | readonly Resource[],
  verbs: string[],
): Promise<void> {
  const rules = [resources].flat().map(({ group, plural }) => ({ apiGroups: [group], resources: [plural], verbs }));
  await client.create(clusterRoles, { metadata: { name: user }, rules });
  await client.create(clusterRoleBindings, {
    metadata: { name: user },
    roleRef: { apiGroup: rbac.group, kind: 'ClusterRole', name: user },
    subjects: [{ apiGroup: rbac.group, kind: 'User', name: user }],
  });
}

/** Resolves once the API server serves the kind. An existing CRD is not changed. */
export async function installCrd(client: Client, definition: CustomResourceDefinition): Promise<void> {
  await client.create(customResourceDefinitions, definition).catch((error: unknown) => {
    if (!isKubeError(error, 'SLW_KUBE_ALREADY_EXISTS')) throw error;
  });
  await until(async () => {
    const { metadata, status } = await client.get(customResourceDefinitions, definition.metadata);
    const isServed = status?.conditions?.some((each) => each.type === 'Established' && each.status === 'True') === true;
    if (!isServed) throw new Error(`${metadata.name} is not served`);
  });
}

/** The Events about an object; those about cluster-scoped objects are in the namespace `default`. */
export function listEvents(
  client: Client,
  { namespace = 'default', name, uid }: Name & { uid?: string },
): Promise<Stored<ApiEvent>[]> {
  const fieldSelector = uid === undefined ? `involvedObject.name=${name}` : `involvedObject.uid=${uid}`;
  return Array.fromAsync(client.list(events, { namespace, fieldSelector }));
}

/** Deletes an object if it exists. */
export async function removeIfThere(
  client: Client,
  resource: Resource,
  name: Name,
  options: DeleteOptions = {},
): Promise<void> {
  await client.delete(resource, name, {}, options).catch((error: unknown) => {
    if (!isKubeError(error, 'SLW_KUBE_NOT_FOUND')) throw error;
  });
}

/** Deletes every object of these kinds, one kind after another. */
export async function removeAll(client: Client, ...resources: readonly Resource[]): Promise<void> {
  for (const resource of resources) {
    const found = await Array.fromAsync(client.list<KubeObject>(resource));
    await Promise.all(found.map(({ metadata }) => removeIfThere(client, resource, metadata)));
  }
}
