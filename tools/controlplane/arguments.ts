import type { Layout } from './layout.ts';

const SERVICE_RANGE = '10.0.0.0/24';

/** An argument unique to the programs of this data directory: identifies leftovers of a killed launcher. */
export const markers = (at: Layout) => ({
  etcd: `--data-dir=${at.etcdData}`,
  'kube-apiserver': `--tls-cert-file=${at.serving}`,
  'kube-controller-manager': `--kubeconfig=${at.controllerManagerKubeconfig}`,
});

export function etcdArguments(at: Layout, ports: { client: number; peer: number }, durable: boolean): string[] {
  const client = `https://127.0.0.1:${ports.client}`;
  const peer = `https://127.0.0.1:${ports.peer}`;
  // TLS with client certificates even on loopback: access to an unprotected etcd means full control of the cluster, and
  // other users of this machine can reach 127.0.0.1 too.
  const tls = (prefix: string) => [
    `--${prefix}cert-file=${at.etcdServing}`,
    `--${prefix}key-file=${at.etcdServing}`,
    `--${prefix}trusted-ca-file=${at.etcdAuthorityCertificate}`,
    `--${prefix}client-cert-auth`,
  ];
  return [
    markers(at).etcd,
    '--name=slipway',
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=slipway=${peer}`,
    ...tls(''),
    ...tls('peer-'),
    '--log-level=warn',
    // Even a single member waits before it elects itself, by default a second, and serves nothing until then.
    '--heartbeat-interval=20',
    '--election-timeout=100',
    // Large enough for changes to a fleet of 10,000 nodes between two compactions.
    `--quota-backend-bytes=${8 * 2 ** 30}`,
    ...(durable ? [] : ['--unsafe-no-fsync']),
  ];
}

export function apiServerArguments(at: Layout, port: number, etcdPort: number, audit: boolean): string[] {
  return [
    markers(at)['kube-apiserver'],
    `--tls-private-key-file=${at.serving}`,
    `--client-ca-file=${at.authorityCertificate}`,
    `--etcd-servers=https://127.0.0.1:${etcdPort}`,
    `--etcd-cafile=${at.etcdAuthorityCertificate}`,
    `--etcd-certfile=${at.etcdClient}`,
    `--etcd-keyfile=${at.etcdClient}`,
    '--bind-address=127.0.0.1',
    '--advertise-address=127.0.0.1',
    `--secure-port=${port}`,
    // No Endpoints of the service `kubernetes`: nothing here could reach the server through them.
    '--endpoint-reconciler-type=none',
    `--service-cluster-ip-range=${SERVICE_RANGE}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${at.serviceAccountKey}`,
    `--service-account-signing-key-file=${at.serviceAccountKey}`,
    '--authorization-mode=Node,RBAC',
    // As in real clusters: a kubelet writes only its own Node and related objects.
    '--enable-admission-plugins=NodeRestriction',
    '--allow-privileged=true',
    // New machines join with tokens in kube-system, as in clusters made with kubeadm.
    '--enable-bootstrap-token-auth=true',
    // One file for all readers: the server would start another after 100 MB.
    ...(audit
      ? [`--audit-policy-file=${at.auditPolicy}`, `--audit-log-path=${at.auditLog}`, '--audit-log-maxsize=2000']
      : []),
  ];
}

export function controllerManagerArguments(at: Layout): string[] {
  return [
    markers(at)['kube-controller-manager'],
    '--leader-elect=false',
    '--secure-port=0',
    // Only what tests need: garbage collection, namespace deletion, service accounts and the root CA for pods.
    '--controllers=garbage-collector-controller,namespace-controller,serviceaccount-controller,root-ca-certificate-publisher-controller',
    '--use-service-account-credentials=true',
    `--service-account-private-key-file=${at.serviceAccountKey}`,
    `--root-ca-file=${at.authorityCertificate}`,
  ];
}
