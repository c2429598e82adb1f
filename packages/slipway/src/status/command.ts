import { Command } from 'commander';
import { type Io, processIo } from '../cli/io.ts';
import { withPoolStatusOptions } from '../cli/options.ts';
import type { StatusOptions } from './status.ts';

export const statusCommand = (io: Io = processIo): Command =>
  withPoolStatusOptions(new Command('status'))
    .summary('show the progress of pools and nodes, and what they wait for')
    .description(
      'Shows every pool with its target, progress, wave and time left, and every node with its phase, current step, and what blocks it. Read-only.',
    )
    .addHelpText(
      'after',
      `
Examples:
  slipway status
  slipway status worker --watch
  slipway status -o json | jq '.pools[] | {name, phase, machines}'
  slipway status --watch -o json                  one line of JSON per change`,
    )
    .action(async (pools: string[], options: StatusOptions) =>
      (await import('./status.ts')).runStatus(pools, options, io),
    );
