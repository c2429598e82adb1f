import { Option } from 'commander';
import type { Command } from 'commander';

/** The options of every command that talks to a cluster. */
export const withClusterOptions = (command: Command): Command =>
  command
    .addOption(
      new Option('--kubeconfig <file>', 'the cluster to talk to (default: $KUBECONFIG, the pod’s own, ~/.kube/config)'),
    )
    .addOption(new Option('--context <name>', 'another context of the kubeconfig than its current one'));
