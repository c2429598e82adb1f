import { Command } from 'commander';
import { runProgram, version } from './cli/program.ts';
import { daemonCommand } from './processes/daemon-command.ts';
import type { OpenSimulatedHost } from './processes/daemon.ts';

/** The part of the slipway command that ships to machines: `slipway daemon` and only what it needs. */
export async function runDaemonProgram(openSimulated?: OpenSimulatedHost): Promise<void> {
  await runProgram(
    new Command('slipway')
      .description('Applies this machine’s config and keeps it applied.')
      .version(version, '-V, --version')
      .addCommand(daemonCommand(openSimulated)),
  );
}
