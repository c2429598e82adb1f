import { Command } from 'commander';
import { runProgram, version } from './cli/program.ts';
import { daemonCommand } from './processes/daemon-command.ts';
import type { OpenSimulatedHost } from './processes/daemon.ts';

/** The part of the slipway command that is shipped to machines: `slipway daemon`, and nothing that it does not need. */
export async function runDaemonProgram(openSimulated?: OpenSimulatedHost): Promise<void> {
  await runProgram(
    new Command('slipway')
      .description('Brings this machine to its config and keeps it there.')
      .version(version, '-V, --version')
      .addCommand(daemonCommand(openSimulated)),
  );
}
