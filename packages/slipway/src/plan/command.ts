import { Command } from 'commander';
import { type Io, processIo } from '../cli/io.ts';
import { outputOption, showSecretsOption, withClusterOptions, withManifestOptions } from '../cli/options.ts';
import type { PlanOptions } from './plan.ts';

export const planCommand = (io: Io = processIo): Command =>
  withClusterOptions(withManifestOptions(new Command('plan')))
    .summary('show what applying manifests would do to every machine')
    .description(
      'Shows what changes in each pool and which MachineConfig causes it, what each machine has to do and why, which pods drains would evict, which PodDisruptionBudgets would block them, the waves, and the estimated time. It writes nothing and needs only read access. Manifests are MachineConfigs, MachineConfigPools and the MachineConfiguration. Exit codes: 0 if nothing changes, 2 if something changes without a drain or reboot, 3 with a drain or reboot, 1 on an error.',
    )
    .option('--offline', 'plan without a cluster; the manifests are the whole fleet')
    .option('--from <PATH>', 'with --offline: the current fleet, as manifests or a dump of a cluster')
    .addOption(outputOption(['text', 'json']))
    .option('-v, --verbose', 'list every machine, pod and reason by name')
    .addOption(showSecretsOption())
    .addHelpText(
      'after',
      `
Examples:
  slipway plan -f 50-chrony.yaml
  slipway plan -f fleet/ --kubeconfig prod.kubeconfig -v
  slipway plan -f fleet/ -o json | jq '.pools[].rollout.waves'
  slipway plan --offline -f fleet-branch/ --from fleet-main/
  kubectl get mc,mcp,nodes,pods,pdb -A -o json > now.json; slipway plan --offline -f fleet/ --from now.json`,
    )
    .action(async (options: PlanOptions) => (await import('./plan.ts')).runPlan(options, io));
