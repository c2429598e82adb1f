import { Command, Option } from 'commander';
import { type Io, processIo } from '../cli/io.ts';
import { DEFAULT_NAMESPACE, outputOption, withClusterOptions } from '../cli/options.ts';
import type { BootImagesOptions } from './bootimages.ts';
import type { HistoryOptions } from './history.ts';
import type { RestoreOptions } from './restore.ts';

export const bootImagesCommand = (io: Io = processIo): Command =>
  withMachineNamespaces(withClusterOptions(new Command('bootimages')))
    .summary('show which image new machines boot, and bring a MachineSet back to an earlier one')
    .description(
      'Shows every MachineSet and MachineDeployment: its platform and architecture, the boot image and the Ignition stub that it has and gets, and what the controllers do about it and why. Images that somebody must import first are told with their checksum and the commands. Reads only.',
    )
    // Else an option behind the name of a subcommand would be taken for one of ours.
    .enablePositionalOptions()
    .option('--namespace <name>', 'where Slipway runs', DEFAULT_NAMESPACE)
    .addOption(outputOption(['table', 'json']))
    .addHelpText(
      'after',
      `
Examples:
  slipway bootimages
  slipway bootimages -o json | jq '.resources[] | select(.verdict == "failed") | {name: .resource.name, code, why}'
  slipway bootimages -o json | jq -r '.resources[0].toImport.commands[]'
  slipway bootimages history worker-a
  slipway bootimages restore worker-a --to 9.6.20251023-0 --dry-run

docs/boot-images.md tells how to opt in, and has a page for every platform.`,
    )
    .action(async (options: BootImagesOptions) => (await import('./bootimages.ts')).runBootImages(options, io))
    .addCommand(historyCommand(io))
    .addCommand(restoreCommand(io));

const historyCommand = (io: Io): Command =>
  withWhich(withClusterOptions(new Command('history')))
    .summary('show the boot images that a MachineSet or MachineDeployment has had')
    .description(
      'Shows every change of the boot image of a MachineSet or MachineDeployment, the newest first: when, to which version, and the image itself where it is still known. Reads only.',
    )
    .argument('<NAME>', 'the MachineSet or MachineDeployment')
    .addOption(outputOption(['table', 'json']))
    .addHelpText(
      'after',
      `
Examples:
  slipway bootimages history worker-a
  slipway bootimages history worker-a -n openshift-cluster-api
  slipway bootimages history worker-a -o json | jq -r '.[0].entries[].version'`,
    )
    .action(async (name: string, options: HistoryOptions) =>
      (await import('./history.ts')).runBootImageHistory(name, options, io),
    );

const restoreCommand = (io: Io): Command =>
  withWhich(withClusterOptions(new Command('restore')))
    .summary('bring a MachineSet or MachineDeployment back to an earlier boot image, or let it be updated again')
    .description(
      'Sets the boot image of an earlier version again, and holds the MachineSet or MachineDeployment there: the controllers leave a held one alone. Machines that exist are not touched, except that a MachineDeployment replaces them by its own strategy. --release ends the hold, and the boot image is updated again.',
    )
    .argument('<NAME>', 'the MachineSet or MachineDeployment')
    .option('--to <VERSION>', 'the version, as slipway bootimages history shows it')
    .option('--release', 'instead: end the hold')
    .option('--dry-run', 'show it, and change nothing')
    .addHelpText(
      'after',
      `
Examples:
  slipway bootimages restore worker-a --to 9.6.20251023-0 --dry-run
  slipway bootimages restore worker-a --to 9.6.20251023-0
  slipway bootimages restore worker-a --release`,
    )
    .action(async (name: string, options: RestoreOptions) =>
      (await import('./restore.ts')).runRestore(name, options, io),
    );

/** Which one is meant, where several have the name. */
const withWhich = (command: Command): Command =>
  withMachineNamespaces(command)
    .option('-n, --namespace <name>', 'where it lives (default: looked for in both)')
    .addOption(
      new Option('--api <API>', 'mapi: the Machine API; capi: Cluster API (default: both)').choices(['mapi', 'capi']),
    );

const withMachineNamespaces = (command: Command): Command =>
  command
    .option('--machine-api-namespace <name>', 'where MachineSets of the Machine API live', 'openshift-machine-api')
    .option('--cluster-api-namespace <name>', 'where those of Cluster API live', 'openshift-cluster-api');
