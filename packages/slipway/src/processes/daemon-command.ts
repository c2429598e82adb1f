import { Command, Option } from 'commander';
import { addressParser, logLevelOption, withClusterOptions } from '../cli/options.ts';
import type { DaemonCommandOptions, FirstBootCommandOptions, OpenSimulatedHost } from './daemon.ts';

const rootOption = (): Option =>
  new Option('--root <directory>', 'mount point of the machine’s root file system').default('/');
const simulateOption = (): Option =>
  new Option('--simulate', 'treat the directory as a simulated machine: run no host programs, never reboot');

/** With `openSimulated`, it also supports simulated machines. */
export function daemonCommand(openSimulated?: OpenSimulatedHost): Command {
  const command = withClusterOptions(new Command('daemon'))
    .summary('apply the config of one machine and keep it applied')
    .description(
      'Runs on every node until SIGTERM or Ctrl-C. It applies the config that the Node object names, rolls back if that fails, detects drift, and reports. It first completes a change that an earlier run left unfinished, even while the cluster is unreachable.',
    )
    .option('--node <name>', 'Node object of this machine (required)')
    .addOption(rootOption())
    .addOption(
      new Option('--probes <host:port>', 'address of /healthz, /readyz and /metrics')
        .default({ host: '127.0.0.1', port: 8797 }, '127.0.0.1:8797')
        .argParser(addressParser('127.0.0.1:8797')),
    )
    .addOption(logLevelOption())
    .addHelpText(
      'after',
      `
Examples:
  slipway daemon --node worker-1 --kubeconfig /var/lib/kubelet/kubeconfig
  slipway daemon --node worker-1 --root /rootfs        # in a pod that mounts the machine’s root file system${
    openSimulated === undefined ? '' : '\n  slipway daemon --node sim-1 --root ./sim-1 --simulate'
  }`,
    )
    .action(async (options: Partial<DaemonCommandOptions>, command: Command) => {
      const { node } = options;
      // Not a mandatory option of commander: its subcommand first-boot would require it too.
      if (node === undefined) return command.error("required option '--node <name>' not specified");
      return (await import('./daemon.ts')).runDaemon({ ...command.opts<DaemonCommandOptions>(), node }, openSimulated);
    })
    .addCommand(firstBootCommand(openSimulated));
  return openSimulated === undefined ? command : command.addOption(simulateOption());
}

function firstBootCommand(openSimulated: OpenSimulatedHost | undefined): Command {
  const command = new Command('first-boot')
    .summary('finish the first boot of this machine')
    .description(
      'Applies the kernel arguments, extensions and OS image of the machine’s first config, and reboots if necessary. Runs before the kubelet, and does nothing after the first boot is complete.',
    )
    .addOption(rootOption())
    .addOption(logLevelOption())
    .addHelpText(
      'after',
      `
Examples:
  slipway daemon first-boot${openSimulated === undefined ? '' : '\n  slipway daemon first-boot --root ./sim-1 --simulate'}`,
    )
    .action(async (_: unknown, command: Command) =>
      // The parent command has the same flags and would consume them.
      (await import('./daemon.ts')).runFirstBoot(command.optsWithGlobals<FirstBootCommandOptions>(), openSimulated),
    );
  return openSimulated === undefined ? command : command.addOption(simulateOption());
}
