// Reports the node disruption policy in effect in the status of MachineConfiguration `cluster`. Nodes compute it
// themselves, from the same object: an update never waits for this report.
import { type MachineConfiguration, machineConfigurations, SINGLETON_NAME } from '@slipway/api';
import { isEqual } from '@slipway/base/equal';
import { computeClusterPolicies } from '@slipway/fleet';
import { type ControllerDef, done, type Stored } from '@slipway/kube';

type Report = Pick<NonNullable<MachineConfiguration['status']>, 'observedGeneration' | 'nodeDisruptionPolicyStatus'>;

export const disruptionPolicyController: ControllerDef = {
  name: 'disruption-policy',
  reads: [{ resource: machineConfigurations, fieldSelector: `metadata.name=${SINGLETON_NAME}` }],
  owns: [{ resource: machineConfigurations, subresource: 'status' }],
  async reconcile(name, { read, write }) {
    const configuration = read(machineConfigurations).get(name);
    // Without this object the built-in policy is in effect, and there is no status to report it in.
    if (configuration === undefined || configuration.metadata.deletionTimestamp !== undefined) return done();
    const report = buildReport(configuration);
    const { observedGeneration, nodeDisruptionPolicyStatus } = configuration.status ?? {};
    if (!isEqual({ observedGeneration, nodeDisruptionPolicyStatus }, report))
      await write.patchStatus(machineConfigurations, configuration, report);
    return done();
  },
};

/** Every field is set, also when empty: a merge patch would keep an entry that users removed. */
const buildReport = ({ metadata, spec }: Stored<MachineConfiguration>): Report => ({
  ...(metadata.generation !== undefined && { observedGeneration: metadata.generation }),
  nodeDisruptionPolicyStatus: { clusterPolicies: computeClusterPolicies(spec.nodeDisruptionPolicy ?? {}) },
});
