import { Command } from 'commander';
import { type Io, processIo } from '../cli/io.ts';
import { withPoolStatusOptions } from '../cli/options.ts';
import type { StatusOptions } from './status.ts';

export const statusCommand = (io: Io = processIo): Command =>
  withPoolStatusOptions(new Command('status'))
    .summary('show how far pools and nodes are, and what they wait for')
    .description(
      'Shows every pool with its target, progress, wave and time left, and every node with its phase, the step it is in, and what is in its way. Reads only.',
    )
    .addHelpText(
      'after',
      `
Examples:
  slipway status
  slipway status worker --watch
  slipway status -o json | jq '.pools[] | {name, phase, machines}'
  slipway status --watch -o json                  a JSON document a line, at each change`,
    )
    .action(async (pools: string[], options: StatusOptions) =>
      (await import('./status.ts')).runStatus(pools, options, io),
    );
