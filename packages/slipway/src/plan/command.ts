import { Command } from 'commander';
import { type Io, processIo } from '../cli/io.ts';
import { outputOption, withClusterOptions, withManifestOptions } from '../cli/options.ts';
import type { PlanOptions } from './plan.ts';

export const planCommand = (io: Io = processIo): Command =>
  withClusterOptions(withManifestOptions(new Command('plan')))
    .summary('show what applying manifests would do to every machine, before it is done')
    .description(
      'Shows for each pool what changes and which MachineConfig it comes from; for each machine what that costs and why; whom drains would evict and which budgets would block; the waves, and how long it takes. Nothing is written, and it needs no right to write. FILES are MachineConfigs, MachineConfigPools and the MachineConfiguration. Exits 0 when nothing changes, 2 when something does without a drain or reboot, 3 with one, 1 on an error.',
    )
    .option('--offline', 'without a cluster: the manifests are the whole fleet')
    .option('--from <PATH>', 'with --offline: the fleet as it is now, manifests or a dump of a cluster')
    .addOption(outputOption(['text', 'json']))
    .option('-v, --verbose', 'every machine, pod and reason by name')
    .option('--show-secrets', 'also show password hashes and the contents of files that are secret')
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
