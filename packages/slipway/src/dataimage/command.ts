import { Command, Option } from 'commander';
import { type Io, processIo } from '../cli/io.ts';
import { outputOption, secondsParser, withClusterOptions } from '../cli/options.ts';
import type { AttachOptions, DetachOptions } from './change.ts';
import type { StatusOptions } from './status.ts';

/** Where machines are, and bare-metal hosts with them. */
const HOST_NAMESPACE = 'openshift-machine-api';
/** Hosts shut down in up to 3 minutes, some BMCs need several more for an ISO, and a failed attach is tried again. */
const DEFAULT_TIMEOUT_SECONDS = 1800;
const MAX_TIMEOUT_SECONDS = 86_400;

const withNamespace = (command: Command): Command =>
  withClusterOptions(command).option('-n, --namespace <NAME>', 'the namespace of the host', HOST_NAMESPACE);

const withWait = (command: Command, until: string): Command =>
  command
    .option('--wait', `wait until ${until}, and show every step`)
    .addOption(
      new Option('--timeout <SECONDS>', 'how long to wait at most')
        .default(DEFAULT_TIMEOUT_SECONDS)
        .argParser(secondsParser(MAX_TIMEOUT_SECONDS)),
    );

export const dataImageCommand = (io: Io = processIo): Command =>
  new Command('dataimage')
    .summary('put an ISO into the drive of a bare-metal host, see what is in it, take it out')
    .description(
      'DataImages: a non-bootable ISO in the virtual drive of a bare-metal host, through Ironic. The drive changes while the host is off; nobody reboots a host for it unless asked to.',
    )
    .enablePositionalOptions()
    .addHelpText(
      'after',
      `
Examples:
  slipway dataimage attach metal-worker-0 http://10.0.0.5/site-config.iso --reboot --wait
  slipway dataimage status
  slipway dataimage detach metal-worker-0`,
    )
    .addCommand(attachCommand(io))
    .addCommand(statusCommand(io))
    .addCommand(detachCommand(io));

const attachCommand = (io: Io): Command =>
  withWait(
    withNamespace(new Command('attach'))
      .summary('ask for an ISO in the drive of a host')
      .description(
        'Makes or changes the DataImage of a host. The ISO goes in when the host is next powered off, before it is switched on again; at once if it is off. Looks first whether an ISO stands at the URL, and warns if not.',
      )
      .argument('<HOST>', 'the BareMetalHost')
      .argument('<URL>', 'where the ISO is: http or https, as Ironic reaches it')
      .option('--reboot', 'reboot the host for it, unless it is off or has the ISO already')
      .option('--immediate', 'attach while the host runs, and leave its power alone; not all hardware can')
      .option('--no-check', 'do not look at the URL first'),
    'the ISO is in the drive',
  )
    .addOption(outputOption(['text', 'json'], 'how to report'))
    .addHelpText(
      'after',
      `
Examples:
  slipway dataimage attach metal-worker-0 http://10.0.0.5/site-config.iso
  slipway dataimage attach metal-worker-0 http://10.0.0.5/site-config.iso --reboot --wait
  slipway dataimage attach metal-worker-0 https://isos.example.com/tools.iso --immediate --namespace metal3
  slipway dataimage attach metal-worker-0 http://10.0.0.5/site-config.iso --wait --timeout 600 -o json`,
    )
    .action(async (host: string, url: string, options: AttachOptions) =>
      (await import('./change.ts')).runAttach(host, url, options, io),
    );

const statusCommand = (io: Io): Command =>
  withNamespace(new Command('status'))
    .summary('show what is in the drives of hosts, and what they wait for')
    .description(
      'Shows every DataImage: what is in the drive, what shall be, whether the host is on, and what it waits for. Reads only.',
    )
    .argument('[HOST]', 'only the DataImage of this host')
    .option('-A, --all-namespaces', 'those of all namespaces')
    .addOption(outputOption(['table', 'json']))
    .addHelpText(
      'after',
      `
Examples:
  slipway dataimage status
  slipway dataimage status metal-worker-0 --namespace metal3
  slipway dataimage status -A -o json | jq '.dataImages[] | {name, state, attached}'`,
    )
    .action(async (host: string | undefined, options: StatusOptions) =>
      (await import('./status.ts')).runStatus(host, options, io),
    );

const detachCommand = (io: Io): Command =>
  withWait(
    withNamespace(new Command('detach'))
      .summary('take the ISO out of the drive of a host')
      .description(
        'Deletes the DataImage of a host. The ISO comes out when the host is next powered off, and only then is the DataImage gone; at once if the host is off.',
      )
      .argument('<HOST>', 'the BareMetalHost')
      .option('--reboot', 'reboot the host for it, if it is on'),
    'the ISO is out of the drive',
  )
    .addOption(outputOption(['text', 'json'], 'how to report'))
    .addHelpText(
      'after',
      `
Examples:
  slipway dataimage detach metal-worker-0
  slipway dataimage detach metal-worker-0 --reboot --wait`,
    )
    .action(async (host: string, options: DetachOptions) => (await import('./change.ts')).runDetach(host, options, io));
