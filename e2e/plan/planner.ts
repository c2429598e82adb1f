// A user who may read everything that a plan needs, and write nothing.
import type { Client } from '@slipway/kube';
import { clusterRoleBindings, clusterRoles } from '@slipway/testing/resources';
import type { ControlPlane } from '@slipway/tools/controlplane';

export const planner = { user: 'planner', groups: ['planners'], name: 'planner' };

const apiGroup = clusterRoles.group;
const allowRead = (group: string, ...resources: string[]) => ({
  apiGroups: [group],
  resources,
  verbs: ['get', 'list'],
});

/** The permissions in docs/plan.md. */
export async function addPlanner(admin: Client, controlPlane: ControlPlane): Promise<string> {
  const metadata = { name: 'slipway-plan' };
  await admin.create(clusterRoles, {
    metadata,
    rules: [
      allowRead('machineconfiguration.openshift.io', 'machineconfigs', 'machineconfigpools', 'osimagestreams'),
      allowRead('operator.openshift.io', 'machineconfigurations'),
      allowRead('config.openshift.io', 'featuregates', 'clusterversions'),
      allowRead('', 'nodes', 'pods', 'configmaps'),
      allowRead('policy', 'poddisruptionbudgets'),
      allowRead('coordination.k8s.io', 'leases'),
    ],
  });
  await admin.create(clusterRoleBindings, {
    metadata,
    roleRef: { apiGroup, kind: 'ClusterRole', name: metadata.name },
    subjects: [{ apiGroup, kind: 'User', name: planner.user }],
  });
  return controlPlane.kubeconfigFor(planner);
}
