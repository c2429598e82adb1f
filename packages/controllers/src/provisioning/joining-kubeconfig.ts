import { X509Certificate } from 'node:crypto';
import { parse as parseYaml, stringify } from 'yaml';

/** How a new machine reaches the API server. */
export interface ApiServer {
  url: string;
  /** PEM. */
  ca: string;
}

export interface ApiServerHints {
  /** What a user configured. */
  apiServerUrl: string | undefined;
  /** The key `kubeconfig` of ConfigMap kube-public/cluster-info, where clusters publish how to reach them. */
  clusterInfo: string | undefined;
  /** The key `ca.crt` of ConfigMap kube-root-ca.crt. */
  rootCa: string | undefined;
  /** How this process reaches it. */
  connection: { server: string; ca: string | undefined } | undefined;
}

export type ApiServerResult = { ok: true; apiServer: ApiServer } | { ok: false; missing: 'address' | 'CA' };

export function resolveApiServer({ apiServerUrl, clusterInfo, rootCa, connection }: ApiServerHints): ApiServerResult {
  const said = readClusterInfo(clusterInfo ?? '');
  const url = [apiServerUrl, said.server, connection?.server].find((each) => each?.startsWith('https://'));
  if (url === undefined) return { ok: false, missing: 'address' };
  const ca = [rootCa, said.ca, connection?.ca].find((each) => each !== undefined && hasCertificate(each));
  return ca === undefined ? { ok: false, missing: 'CA' } : { ok: true, apiServer: { url, ca } };
}

const MAX_CLUSTER_INFO_LENGTH = 256 * 1024;

function readClusterInfo(text: string): { server?: string; ca?: string } {
  const cluster = at(at(at(readYaml(text), 'clusters'), 0), 'cluster');
  const [server, ca] = [at(cluster, 'server'), at(cluster, 'certificate-authority-data')];
  return {
    ...(typeof server === 'string' ? { server } : {}),
    ...(typeof ca === 'string' ? { ca: Buffer.from(ca, 'base64').toString('utf8') } : {}),
  };
}

function readYaml(text: string): unknown {
  if (text.length > MAX_CLUSTER_INFO_LENGTH) return undefined;
  try {
    return parseYaml(text, { maxAliasCount: 10, logLevel: 'silent' });
  } catch {
    return undefined;
  }
}

const at = (value: unknown, key: string | number): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;

function hasCertificate(pem: string): boolean {
  try {
    void new X509Certificate(pem);
    return true;
  } catch {
    return false;
  }
}

/** What a kubelet starts with: enough to request a client certificate. */
export const formatJoiningKubeconfig = ({ url, ca }: ApiServer, token: { id: string; secret: string }): string =>
  stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      { name: 'local', cluster: { server: url, 'certificate-authority-data': Buffer.from(ca).toString('base64') } },
    ],
    users: [{ name: 'kubelet', user: { token: `${token.id}.${token.secret}` } }],
    contexts: [{ name: 'kubelet', context: { cluster: 'local', user: 'kubelet' } }],
    'current-context': 'kubelet',
  });
