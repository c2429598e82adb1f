import { type Client, isKubeError, type Resource } from '@slipway/kube';

const serviceAccounts: Resource = {
  group: '',
  version: 'v1',
  kind: 'ServiceAccount',
  plural: 'serviceaccounts',
  namespaced: true,
};

/** Without it no pod can be made in the namespace `default`; in a cluster kube-controller-manager makes it. */
export async function createDefaultAccount(client: Client): Promise<void> {
  const metadata = { namespace: 'default', name: 'default' };
  await client.create(serviceAccounts, { metadata }).catch((error: unknown) => {
    if (!isKubeError(error, 'SLW_KUBE_ALREADY_EXISTS')) throw error;
  });
}
