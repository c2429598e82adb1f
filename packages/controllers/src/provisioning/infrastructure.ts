import { type Infrastructure, infrastructures, SINGLETON_NAME } from '@slipway/api';
import { type Client, isKubeError } from '@slipway/kube';

/** Undefined on plain Kubernetes, which does not have the kind. */
export async function readInfrastructure(client: Client): Promise<Infrastructure | undefined> {
  try {
    return await client.find(infrastructures, { name: SINGLETON_NAME });
  } catch (error) {
    if (isKubeError(error, 'SLW_KUBE_KIND_NOT_INSTALLED')) return undefined;
    throw error;
  }
}
