import { join } from 'node:path';
import type { Layout } from './layout.ts';
import { ensureAuthority, ensureIdentity, ensureSigningKey, type Identity } from './certificates.ts';
import { kubeconfig } from './kubeconfig.ts';
import { writePrivateFile } from './private-file.ts';

/** The owner of a kubeconfig: the user and groups that RBAC sees. */
export interface User {
  user: string;
  groups?: readonly string[];
  /** The file name; by default the user's name. */
  name?: string;
}

export interface Pki {
  authority: Identity;
  admin: Identity;
}

const SERVER_HOSTS = [
  'localhost',
  'kubernetes',
  'kubernetes.default',
  'kubernetes.default.svc',
  '127.0.0.1',
  // The first address of the service range, which the server assigns to itself.
  '10.0.0.1',
];

/** All certificates and keys of the programs; existing valid ones are kept. */
export async function preparePki(at: Layout): Promise<Pki> {
  const authority = await ensureAuthority(at.authority, 'slipway-control-plane');
  // A separate authority: a client certificate of the API server must not grant access to etcd.
  const etcdAuthority = await ensureAuthority(at.etcdAuthority, 'slipway-etcd');
  await writePrivateFile(at.authorityCertificate, authority.certificate);
  await writePrivateFile(at.etcdAuthorityCertificate, etcdAuthority.certificate);
  await ensureIdentity(authority, at.serving, { commonName: 'kube-apiserver', hosts: SERVER_HOSTS });
  await ensureIdentity(etcdAuthority, at.etcdServing, { commonName: 'etcd', hosts: ['localhost', '127.0.0.1'] });
  await ensureIdentity(etcdAuthority, at.etcdClient, { commonName: 'kube-apiserver' });
  await ensureSigningKey(at.serviceAccountKey);
  const admin = await ensureIdentity(authority, join(at.pki, 'admin.pem'), {
    commonName: 'admin',
    organizations: ['system:masters'],
  });
  return { authority, admin };
}

/** The API server serves with a certificate of another, new authority from now on. Returns the authority's certificate. */
export async function replaceServingAuthority(at: Layout): Promise<string> {
  const authority = await ensureAuthority(at.nextAuthority, 'slipway-control-plane-next');
  await ensureIdentity(authority, at.serving, { commonName: 'kube-apiserver', hosts: SERVER_HOSTS });
  return authority.certificate;
}

export async function writeAdminKubeconfig(at: Layout, pki: Pki, url: string): Promise<void> {
  const ca = pki.authority.certificate;
  await writePrivateFile(at.adminKubeconfig, kubeconfig({ url, ca, user: 'admin', identity: pki.admin }));
}

export async function writeControllerManagerKubeconfig(at: Layout, pki: Pki, url: string): Promise<void> {
  const user = 'system:kube-controller-manager';
  const identity = await ensureIdentity(pki.authority, join(at.pki, 'controller-manager.pem'), { commonName: user });
  const ca = pki.authority.certificate;
  await writePrivateFile(at.controllerManagerKubeconfig, kubeconfig({ url, ca, user, identity }));
}

/** Writes a kubeconfig for this user and returns its path. */
export async function writeUserKubeconfig(at: Layout, pki: Pki, url: string, who: User): Promise<string> {
  const { user, groups = [], name = user } = who;
  // encodeURIComponent escapes slashes: a user cannot name a file outside the directory.
  const path = join(at.kubeconfigs, encodeURIComponent(name));
  const identity = await ensureIdentity(pki.authority, `${path}.pem`, { commonName: user, organizations: groups });
  const ca = pki.authority.certificate;
  await writePrivateFile(`${path}.kubeconfig`, kubeconfig({ url, ca, user, identity }));
  return `${path}.kubeconfig`;
}
