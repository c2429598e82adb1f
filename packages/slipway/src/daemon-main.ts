// The part of the slipway command that is shipped to machines: `slipway daemon`, and nothing that it does not need.
import { Command } from 'commander';
import { daemonCommand } from './daemon-command.ts';
import { runProgram } from './run-program.ts';
import { version } from './version.ts';

await runProgram(
  new Command('slipway')
    .description('Brings this machine to its config and keeps it there.')
    .version(version, '-V, --version')
    .addCommand(daemonCommand()),
);
