import { Command, Option } from 'commander';
import { withClusterOptions } from './cluster-options.ts';
import type { InstallOptions } from './install.ts';
import { defaultNamespace } from './namespace.ts';

export const installCommand = (): Command =>
  withClusterOptions(new Command('install'))
    .summary('install or update CRDs and admission policies in a cluster')
    .description(
      'Installs or updates our CRDs and admission policies. CRDs that the platform, Metal3 or Cluster API normally bring are made only where they are absent. Doing it again changes nothing.',
    )
    .option(
      '--namespace <name>',
      'where Slipway runs: its service accounts are exempt from its own policies',
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
