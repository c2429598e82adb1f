import { type Client, isKubeError, type KubeObject, type Name, type Resource, type Stored } from '@slipway/kube';

/** A kind that the cluster does not have counts as an object that is not there. */
export async function findWhereKnown<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  name: Name,
): Promise<Stored<T> | undefined> {
  try {
    return await client.find(resource, name);
  } catch (error) {
    if (!isKubeError(error, 'SLW_KUBE_KIND_NOT_INSTALLED')) throw error;
    return undefined;
  }
}
