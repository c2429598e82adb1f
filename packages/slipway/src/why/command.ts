import { Command } from 'commander';
import { type Io, processIo } from '../cli/io.ts';
import { outputOption, withClusterOptions } from '../cli/options.ts';
import type { WhyOptions } from './why.ts';

export const whyCommand = (io: Io = processIo): Command =>
  withClusterOptions(new Command('why'))
    .summary('explain why a node is or is not being updated')
    .description(
      'Shows the pool of one node, its current and desired config, when and why it was assigned that, why it is or is not being updated, what its drain waits for, what its daemon reports, and what to do. Read-only.',
    )
    .argument('<NODE>', 'name of the Node')
    .addOption(outputOption(['text', 'json']))
    .addHelpText(
      'after',
      `
Examples:
  slipway why worker-3
  slipway why worker-3 -o json`,
    )
    .action(async (node: string, options: WhyOptions) => (await import('./why.ts')).runWhy(node, options, io));
