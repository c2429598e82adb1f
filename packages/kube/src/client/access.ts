import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { authoritiesFile, isAuthorities } from './authorities.ts';
import { type Credentials, tokenFileCredentials } from './credentials.ts';
import { KubeError } from './errors.ts';
import { loadKubeconfig } from './kubeconfig.ts';
import type { FileOptions } from './watched-file.ts';

/** Everything needed to connect to one cluster. */
export interface ClusterAccess {
  /** For messages: the file or mount that this was read from. */
  source: string;
  server: string;
  /**
   * PEM certificates of the CAs to trust; undefined means the system's. Called before every request: the files may be
   * replaced while the program runs.
   */
  ca: () => Promise<string | undefined>;
  tlsServerName: string | undefined;
  proxy: string | undefined;
  namespace: string;
  credentials: Credentials;
}

export interface AccessOptions {
  /** Path of a kubeconfig. The default is $KUBECONFIG, then the pod's service account, then ~/.kube/config. */
  kubeconfig?: string | undefined;
  context?: string | undefined;
}

export async function findAccess(
  options: AccessOptions = {},
  env: NodeJS.ProcessEnv = process.env,
): Promise<ClusterAccess> {
  if (options.kubeconfig !== undefined) return loadKubeconfig([options.kubeconfig], options.context);
  if (env.KUBECONFIG !== undefined && env.KUBECONFIG !== '') {
    const paths = env.KUBECONFIG.split(delimiter).filter((path) => path !== '' && existsSync(path));
    if (paths.length === 0) throw missing(`none of the files in KUBECONFIG (${env.KUBECONFIG}) exists`);
    return loadKubeconfig(paths, options.context);
  }
  const pod = await inCluster(env);
  if (pod !== undefined) return pod;
  const defaultPath = join(homedir(), '.kube', 'config');
  if (!existsSync(defaultPath))
    throw missing(`KUBECONFIG is not set, ${defaultPath} does not exist, and this process does not run in a pod`);
  return loadKubeconfig([defaultPath], options.context);
}

const missing = (why: string): KubeError =>
  new KubeError('SLW_KUBE_CONFIG_MISSING', `no cluster configured: ${why}. Pass --kubeconfig FILE`);

const MOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

/** Access from inside a pod; undefined outside of one. The kubelet renews the token and the CA. */
export async function inCluster(
  env: NodeJS.ProcessEnv,
  directory = MOUNT,
  options: FileOptions = {},
): Promise<ClusterAccess | undefined> {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = env;
  const tokenPath = join(directory, 'token');
  if (host === undefined || port === undefined || !existsSync(tokenPath)) return undefined;
  return {
    source: `the pod's service account (${directory})`,
    server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    ca: await readAuthorities(directory, options),
    tlsServerName: undefined,
    proxy: undefined,
    namespace: (await mounted(directory, 'namespace')).trim(),
    credentials: tokenFileCredentials(tokenPath, options),
  };
}

async function readAuthorities(directory: string, options: FileOptions): Promise<() => Promise<string>> {
  const first = await mounted(directory, 'ca.crt');
  const path = join(directory, 'ca.crt');
  if (isAuthorities(first)) return authoritiesFile(path, first, options);
  const text = `the pod's service account: ${path}: expected PEM certificates, found something else`;
  throw new KubeError('SLW_KUBE_CONFIG_INVALID', text);
}

async function mounted(directory: string, file: string): Promise<string> {
  try {
    return await readFile(join(directory, file), 'utf8');
  } catch (cause) {
    const text = `the pod's service account: ${join(directory, file)} cannot be read: ${String(cause)}. Mount ca.crt, namespace and token there, or pass --kubeconfig FILE`;
    throw new KubeError('SLW_KUBE_CONFIG_INVALID', text, { cause });
  }
}
