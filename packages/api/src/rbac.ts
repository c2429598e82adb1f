// Permissions of our identities. RBAC cannot restrict a node to its own objects; the admission policies do that.
import { DAEMON_ACCOUNT, DEFAULT_NAMESPACE } from './identity.ts';

interface Rule {
  apiGroups: string[];
  resources: string[];
  verbs: string[];
}

interface NamedObject {
  metadata: { name: string; namespace?: string };
}

interface Binding<K extends 'Role' | 'ClusterRole'> extends NamedObject {
  apiVersion: 'rbac.authorization.k8s.io/v1';
  roleRef: { apiGroup: 'rbac.authorization.k8s.io'; kind: K; name: string };
  subjects: (
    | { kind: 'ServiceAccount'; name: string; namespace: string }
    | { apiGroup: 'rbac.authorization.k8s.io'; kind: 'Group'; name: string }
  )[];
}

export type AccessObject =
  | (NamedObject & { apiVersion: 'v1'; kind: 'ServiceAccount' })
  | (NamedObject & { apiVersion: 'rbac.authorization.k8s.io/v1'; kind: 'Role' | 'ClusterRole'; rules: Rule[] })
  | (Binding<'Role'> & { kind: 'RoleBinding' })
  | (Binding<'ClusterRole'> & { kind: 'ClusterRoleBinding' });

const RBAC = 'rbac.authorization.k8s.io';
const rbacVersion = `${RBAC}/v1` as const;
const MACHINE_CONFIGURATION = 'machineconfiguration.openshift.io';

/** What a node needs of our kinds. Configs contain secrets: a node can get its config by name, but not list configs. */
const ownKinds: Rule[] = [
  { apiGroups: [MACHINE_CONFIGURATION], resources: ['machineconfigs'], verbs: ['get'] },
  { apiGroups: [MACHINE_CONFIGURATION], resources: ['machineconfignodes'], verbs: ['get', 'list', 'watch'] },
  { apiGroups: [MACHINE_CONFIGURATION], resources: ['machineconfignodes/status'], verbs: ['patch'] },
  // Read by name. With a watch, every edit would be sent to thousands of machines.
  { apiGroups: [MACHINE_CONFIGURATION], resources: ['pinnedimagesets'], verbs: ['get'] },
  { apiGroups: ['operator.openshift.io'], resources: ['machineconfigurations'], verbs: ['get'] },
];

/** Access for daemons in pods, and for daemons that use the certificate of their kubelet. */
export function daemonAccess(namespace: string = DEFAULT_NAMESPACE): AccessObject[] {
  const account = { kind: 'ServiceAccount' as const, name: DAEMON_ACCOUNT, namespace };
  const events = `${DAEMON_ACCOUNT}-events`;
  const kubelets = `${DAEMON_ACCOUNT}-kubelet`;
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: DAEMON_ACCOUNT, namespace } },
    {
      apiVersion: rbacVersion,
      kind: 'ClusterRole',
      metadata: { name: DAEMON_ACCOUNT },
      rules: [{ apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list', 'watch', 'patch'] }, ...ownKinds],
    },
    {
      apiVersion: rbacVersion,
      kind: 'ClusterRoleBinding',
      metadata: { name: DAEMON_ACCOUNT },
      roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: DAEMON_ACCOUNT },
      subjects: [account],
    },
    // Events about cluster-scoped objects such as Nodes are stored in this namespace.
    {
      apiVersion: rbacVersion,
      kind: 'Role',
      metadata: { name: events, namespace: 'default' },
      rules: [{ apiGroups: [''], resources: ['events'], verbs: ['create', 'patch'] }],
    },
    {
      apiVersion: rbacVersion,
      kind: 'RoleBinding',
      metadata: { name: events, namespace: 'default' },
      roleRef: { apiGroup: RBAC, kind: 'Role', name: events },
      subjects: [account],
    },
    // Kubelets already have permission to write Nodes and events.
    {
      apiVersion: rbacVersion,
      kind: 'ClusterRole',
      metadata: { name: kubelets },
      rules: ownKinds,
    },
    {
      apiVersion: rbacVersion,
      kind: 'ClusterRoleBinding',
      metadata: { name: kubelets },
      roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: kubelets },
      subjects: [{ apiGroup: RBAC, kind: 'Group', name: 'system:nodes' }],
    },
  ];
}
