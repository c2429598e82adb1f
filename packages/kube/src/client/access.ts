import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { tokenFileCredentials } from './credentials.ts';
import { KubeError } from './errors.ts';
import type { ClusterAccess } from './kubeconfig.ts';

const mount = '/var/run/secrets/kubernetes.io/serviceaccount';

/** How a pod reaches its own cluster; undefined where this is no pod. The kubelet renews the token file. */
export async function inCluster(env: NodeJS.ProcessEnv, directory = mount): Promise<ClusterAccess | undefined> {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = env;
  const tokenPath = join(directory, 'token');
  if (host === undefined || port === undefined || !existsSync(tokenPath)) return undefined;
  return {
    source: `the pod's service account (${directory})`,
    server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    ca: await mounted(directory, 'ca.crt'),
    tlsServerName: undefined,
    proxy: undefined,
    namespace: (await mounted(directory, 'namespace')).trim(),
    credentials: tokenFileCredentials(tokenPath),
  };
}

async function mounted(directory: string, file: string): Promise<string> {
  try {
    return await readFile(join(directory, file), 'utf8');
  } catch (cause) {
    const text = `the pod's service account: ${join(directory, file)} cannot be read: ${String(cause)}. Mount ca.crt, namespace and token there, or give --kubeconfig FILE`;
    throw new KubeError('SLW_KUBE_CONFIG_INVALID', text, { cause });
  }
}
