import { join } from 'node:path';

/** The layout of the data directory. */
export function layout(dataDir: string) {
  const pki = join(dataDir, 'pki');
  return {
    lock: join(dataDir, 'lock'),
    etcdData: join(dataDir, 'etcd'),
    logs: join(dataDir, 'log'),
    auditPolicy: join(dataDir, 'audit-policy.json'),
    auditLog: join(dataDir, 'log', 'audit.log'),
    pki,
    kubeconfigs: join(dataDir, 'kubeconfigs'),
    adminKubeconfig: join(dataDir, 'admin.kubeconfig'),
    controllerManagerKubeconfig: join(pki, 'controller-manager.kubeconfig'),
    authority: join(pki, 'ca.pem'),
    authorityCertificate: join(pki, 'ca.crt'),
    /** Signs the API server's certificate after a rotation. */
    nextAuthority: join(pki, 'next-ca.pem'),
    serving: join(pki, 'apiserver.pem'),
    serviceAccountKey: join(pki, 'service-account.key'),
    etcdAuthority: join(pki, 'etcd-ca.pem'),
    etcdAuthorityCertificate: join(pki, 'etcd-ca.crt'),
    etcdServing: join(pki, 'etcd.pem'),
    etcdClient: join(pki, 'apiserver-etcd-client.pem'),
  };
}

export type Layout = ReturnType<typeof layout>;
