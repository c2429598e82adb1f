import type { Layout } from './layout.ts';

const SERVICE_RANGE = '10.0.0.0/24';

/** An argument that only the program of this data directory has: by it leftovers of a killed launcher are known. */
export const markers = (at: Layout) => ({
  etcd: `--data-dir=${at.etcdData}`,
  'kube-apiserver': `--tls-cert-file=${at.serving}`,
  'kube-controller-manager': `--kubeconfig=${at.controllerManagerKubeconfig}`,
});

export function etcdArguments(at: Layout, ports: { client: number; peer: number }, durable: boolean): string[] {
  const client = `https://127.0.0.1:${ports.client}`;
  const peer = `https://127.0.0.1:${ports.peer}`;
  // TLS with client certificates even on the loopback: whoever reaches an open etcd is the cluster's root, and
  // other users of this machine reach 127.0.0.1 as well as we do.
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
    // A member alone still waits for others before it elects itself, by default a second, and serves nothing until then.
    '--heartbeat-interval=20',
    '--election-timeout=100',
    // Large enough for a fleet of 10,000 nodes under change between two compactions.
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
    // As on any real cluster: a kubelet writes its own Node and what is about it, and no other.
    '--enable-admission-plugins=NodeRestriction',
    '--allow-privileged=true',
    // New machines join by tokens in kube-system, as on any cluster made with kubeadm.
    '--enable-bootstrap-token-auth=true',
    // In one file, whoever reads it: the server would begin another after 100 MB.
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
    // What tests need of it: garbage collection, the end of namespaces, and what pods take from their namespace.
    '--controllers=garbage-collector-controller,namespace-controller,serviceaccount-controller,root-ca-certificate-publisher-controller',
    '--use-service-account-credentials=true',
    `--service-account-private-key-file=${at.serviceAccountKey}`,
    `--root-ca-file=${at.authorityCertificate}`,
  ];
}
