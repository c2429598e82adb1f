import { Command, Option } from 'commander';
import { type Io, processIo } from '../cli/io.ts';
import { outputOption, secondsParser, withClusterOptions } from '../cli/options.ts';
import type { AttachOptions, DetachOptions } from './change.ts';
import type { StatusOptions } from './status.ts';

/** The namespace of machines, and so of bare-metal hosts. */
const HOST_NAMESPACE = 'openshift-machine-api';
/** A shutdown takes up to 3 minutes, some BMCs need several more for an ISO, and a failed attach is retried. */
const DEFAULT_TIMEOUT_SECONDS = 1800;
const MAX_TIMEOUT_SECONDS = 86_400;

const withNamespace = (command: Command): Command =>
  withClusterOptions(command).option('-n, --namespace <NAME>', 'namespace of the host', HOST_NAMESPACE);

const withWait = (command: Command, until: string): Command =>
  command
    .option('--wait', `wait until ${until}, and show every step`)
    .addOption(
      new Option('--timeout <SECONDS>', 'timeout for --wait')
        .default(DEFAULT_TIMEOUT_SECONDS)
        .argParser(secondsParser(MAX_TIMEOUT_SECONDS)),
    );

export const dataImageCommand = (io: Io = processIo): Command =>
  new Command('dataimage')
    .summary('attach ISOs to bare-metal hosts, show them, detach them')
    .description(
      'Manages DataImages: non-bootable ISOs in the virtual drive of a bare-metal host, through Ironic. The drive changes while the host is off; Slipway reboots a host for it only on request.',
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
      .summary('attach an ISO to a host')
      .description(
        'Creates or changes the DataImage of a host. The ISO is attached when the host is next powered off, before it is switched on again, or immediately if it is off. Checks first whether the URL serves an ISO, and warns if not.',
      )
      .argument('<HOST>', 'name of the BareMetalHost')
      .argument('<URL>', 'http or https URL of the ISO, reachable by Ironic')
      .option('--reboot', 'reboot the host, unless it is off or already has the ISO')
      .option('--immediate', 'attach while the host is running, without a reboot; not all hardware supports it')
      .option('--no-check', 'do not check the URL first'),
    'the ISO is attached',
  )
    .addOption(outputOption(['text', 'json']))
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
    .summary('show the ISOs of hosts, and what they wait for')
    .description(
      'Shows every DataImage: the attached and the desired ISO, whether the host is on, and what it waits for. Read-only.',
    )
    .argument('[HOST]', 'show only the DataImage of this host')
    .option('-A, --all-namespaces', 'show the DataImages of all namespaces')
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
      .summary('detach the ISO of a host')
      .description(
        'Deletes the DataImage of a host. The ISO is detached when the host is next powered off, or immediately if it is off. Only then does the DataImage disappear.',
      )
      .argument('<HOST>', 'name of the BareMetalHost')
      .option('--reboot', 'reboot the host if it is on'),
    'the ISO is detached',
  )
    .addOption(outputOption(['text', 'json']))
    .addHelpText(
      'after',
      `
Examples:
  slipway dataimage detach metal-worker-0
  slipway dataimage detach metal-worker-0 --reboot --wait`,
    )
    .action(async (host: string, options: DetachOptions) => (await import('./change.ts')).runDetach(host, options, io));
