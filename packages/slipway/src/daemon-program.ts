import { setFlagsFromString } from 'node:v8';
import { Command } from 'commander';
import { runProgram, version } from './cli/program.ts';
import { daemonCommand } from './processes/daemon-command.ts';
import type { OpenSimulatedHost } from './processes/daemon.ts';

/** The part of the slipway command that is shipped to machines: `slipway daemon`, and nothing that it does not need. */
export async function runDaemonProgram(openSimulated?: OpenSimulatedHost): Promise<void> {
  // A daemon has little to calculate, and seldom: compilers that make code faster cost it 10 MB, for themselves and what they
  // keep, and win no time that can be measured. From here, since NODE_OPTIONS does not take these.
  for (const flag of ['--no-opt', '--no-maglev', '--no-sparkplug', '--optimize-for-size']) setFlagsFromString(flag);
  await runProgram(
    new Command('slipway')
      .description('Brings this machine to its config and keeps it there.')
      .version(version, '-V, --version')
      .addCommand(daemonCommand(openSimulated)),
  );
}
