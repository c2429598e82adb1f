import { Command, Option } from 'commander';
import { type Io, processIo } from '../cli/io.ts';
import { DEFAULT_NAMESPACE, outputOption, withClusterOptions } from '../cli/options.ts';
import type { AdoptOptions } from './adopt.ts';
import type { BootImagesOptions } from './bootimages.ts';
import type { HistoryOptions } from './history.ts';
import type { RestoreOptions } from './restore.ts';

export const bootImagesCommand = (io: Io = processIo): Command =>
  withMachineNamespaces(withClusterOptions(new Command('bootimages')))
    .summary('show which image new machines boot, adopt unknown ones, or restore an earlier one')
    .description(
      'Shows every MachineSet and MachineDeployment: platform, architecture, current and target boot image and Ignition stub, and what the controllers do and why. For images that must be imported manually, it lists the checksum and the commands. Read-only.',
    )
    // Without this, `bootimages` would consume the flags of its subcommands.
    .enablePositionalOptions()
    .option('--namespace <name>', 'namespace of Slipway', DEFAULT_NAMESPACE)
    .addOption(outputOption(['table', 'json']))
    .addHelpText(
      'after',
      `
Examples:
  slipway bootimages
  slipway bootimages -o json | jq '.resources[] | select(.verdict == "failed") | {name: .resource.name, code, why}'
  slipway bootimages -o json | jq -r '.resources[0].toImport.commands[]'
  slipway bootimages adopt --dry-run
  slipway bootimages history worker-a
  slipway bootimages restore worker-a --to 9.6.20251023-0 --dry-run

docs/boot-images.md explains how to opt in, and links to a page for every platform.`,
    )
    .action(async (options: BootImagesOptions) => (await import('./bootimages.ts')).runBootImages(options, io))
    .addCommand(adoptCommand(io))
    .addCommand(historyCommand(io))
    .addCommand(restoreCommand(io));

const adoptCommand = (io: Io): Command =>
  withWhich(withClusterOptions(new Command('adopt')))
    .summary('let Slipway replace images that it does not know')
    .description(
      'Lets Slipway replace images that it does not know, such as those that an earlier release installed: sets the annotation slipway.dev/boot-image-adopt=true. Without names, on every MachineSet whose image is unknown; never on one whose image is known to be user-managed, and not on MachineDeployments, because they replace their machines. Shows first what changes, and asks. Images change only where machines are opted in.',
    )
    .argument('[NAMES...]', 'names of MachineSets or MachineDeployments, whatever their image is')
    .option('--slipway-namespace <name>', 'namespace of Slipway', DEFAULT_NAMESPACE)
    .option('--dry-run', 'show the changes only; change nothing')
    .option('-y, --yes', 'do not ask for confirmation')
    .addOption(outputOption(['table', 'json']))
    .addHelpText(
      'after',
      `
Examples:
  slipway bootimages adopt --dry-run
  slipway bootimages adopt
  slipway bootimages adopt worker-a worker-b --yes
  slipway bootimages adopt --dry-run -o json | jq -r '.resources[].image'`,
    )
    .action(async (names: string[], options: AdoptOptions) =>
      (await import('./adopt.ts')).runAdopt(names, options, io),
    );

const historyCommand = (io: Io): Command =>
  withWhich(withClusterOptions(new Command('history')))
    .summary('show the boot image history of a MachineSet or MachineDeployment')
    .description(
      'Shows every change of the boot image of a MachineSet or MachineDeployment, newest first: the time, the version, and the image if it is still known. Read-only.',
    )
    .argument('<NAME>', 'name of the MachineSet or MachineDeployment')
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
    .summary('restore an earlier boot image and hold it, or release the hold')
    .description(
      'Sets the boot image of an earlier version, and holds the MachineSet or MachineDeployment there: the controllers do not update it while it is held. Existing machines do not change, except that a MachineDeployment replaces them according to its strategy. --release ends the hold, and the controllers update the boot image again.',
    )
    .argument('<NAME>', 'name of the MachineSet or MachineDeployment')
    .option('--to <VERSION>', 'version to restore, from slipway bootimages history')
    .option('--release', 'end the hold instead')
    .option('--dry-run', 'show the changes only; change nothing')
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

/** To choose one if several have the same name. */
const withWhich = (command: Command): Command =>
  withMachineNamespaces(command)
    .option('-n, --namespace <name>', 'namespace of the MachineSet or MachineDeployment (default: search both)')
    .addOption(
      new Option('--api <API>', 'mapi for the Machine API, capi for Cluster API (default: both)').choices([
        'mapi',
        'capi',
      ]),
    );

const withMachineNamespaces = (command: Command): Command =>
  command
    .option('--machine-api-namespace <name>', 'namespace of Machine API MachineSets', 'openshift-machine-api')
    .option('--cluster-api-namespace <name>', 'namespace of Cluster API MachineSets', 'openshift-cluster-api');
