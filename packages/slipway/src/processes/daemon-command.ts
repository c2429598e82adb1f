import { Command, Option } from 'commander';
import { addressParser, logLevelOption, withClusterOptions } from '../cli/options.ts';
import type { DaemonCommandOptions, FirstBootCommandOptions, OpenSimulatedHost } from './daemon.ts';

const rootOption = (): Option => new Option('--root <directory>', 'where the machine’s disk is mounted').default('/');
const simulateOption = (): Option =>
  new Option('--simulate', 'the directory is a simulated machine: no program of the host is run, nothing reboots');

/** With `openSimulated`, it also runs on simulated machines. */
export function daemonCommand(openSimulated?: OpenSimulatedHost): Command {
  const command = withClusterOptions(new Command('daemon'))
    .summary('bring one machine to its config and keep it there')
    .description(
      'Runs on every node until it is told to stop: brings the machine to the config that its Node object names, or back, finds drift, and reports. It first ends whatever an earlier run was cut off in, also while the cluster cannot be reached.',
    )
    .option('--node <name>', 'the Node object of this machine; must be given')
    .addOption(rootOption())
    .addOption(
      new Option('--probes <host:port>', 'where /healthz, /readyz and /metrics are served')
        .default({ host: '127.0.0.1', port: 8797 }, '127.0.0.1:8797')
        .argParser(addressParser('127.0.0.1:8797')),
    )
    .addOption(logLevelOption())
    .addHelpText(
      'after',
      `
Examples:
  slipway daemon --node worker-1 --kubeconfig /var/lib/kubelet/kubeconfig
  slipway daemon --node worker-1 --root /rootfs        # in a pod, with the machine’s disk mounted there${
    openSimulated === undefined ? '' : '\n  slipway daemon --node sim-1 --root ./sim-1 --simulate'
  }`,
    )
    .action(async (options: Partial<DaemonCommandOptions>, command: Command) => {
      const { node } = options;
      // Not a required option of commander’s: first-boot, a command below this one, would need it too.
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
      'Brings kernel arguments, extensions and OS to the config that the machine was born with, rebooting if it must, and hands over. Runs before the kubelet; does nothing once it is done.',
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
      // The flags stand in the parent command too, which would take them.
      (await import('./daemon.ts')).runFirstBoot(command.optsWithGlobals<FirstBootCommandOptions>(), openSimulated),
    );
  return openSimulated === undefined ? command : command.addOption(simulateOption());
}
