import { Command } from 'commander';
import { type Io, processIo } from '../cli/io.ts';
import { outputOption, withClusterOptions } from '../cli/options.ts';
import type { WhyOptions } from './why.ts';

export const whyCommand = (io: Io = processIo): Command =>
  withClusterOptions(new Command('why'))
    .summary('say why a node is updated now, or why it is not')
    .description(
      'Says of one node which pool it is in, what it has and is to have, why it was given that and when, why it has its turn or has not, what its drain waits for, what its daemon complains of, and what to do. Reads only.',
    )
    .argument('<NODE>', 'the name of the Node')
    .addOption(outputOption(['text', 'json']))
    .addHelpText(
      'after',
      `
Examples:
  slipway why worker-3
  slipway why worker-3 -o json`,
    )
    .action(async (node: string, options: WhyOptions) => (await import('./why.ts')).runWhy(node, options, io));
