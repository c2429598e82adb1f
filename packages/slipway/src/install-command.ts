import { Command, Option } from 'commander';
import { defaultNamespace, withClusterOptions } from './cli/options.ts';
import type { InstallOptions } from './install.ts';

export const installCommand = (): Command =>
  withClusterOptions(new Command('install'))
    .summary('install or update CRDs, admission policies and access control in a cluster')
    .description(
      'Installs or updates our CRDs, our admission policies and what the daemons on nodes may do. CRDs that the platform, Metal3 or Cluster API normally bring are made only where they are absent. Doing it again changes nothing.',
    )
    .option(
      '--namespace <name>',
      'where Slipway runs: its controllers are exempt from its own policies',
      defaultNamespace,
    )
    .addOption(new Option('-o, --output <form>', 'how to report').choices(['text', 'json']).default('text'))
    .addHelpText(
      'after',
      `
Examples:
  slipway install
  slipway install --kubeconfig prod.kubeconfig -o json`,
    )
    .action(async (options: InstallOptions) => (await import('./install.ts')).runInstall(options));
