import { Command } from 'commander';
import { type Io, processIo } from '../cli/io.ts';
import { outputOption, withClusterOptions } from '../cli/options.ts';
import type { HistoryOptions } from './history.ts';

export const historyCommand = (io: Io = processIo): Command =>
  withClusterOptions(new Command('history'))
    .summary('show the rollouts of a pool, and what each of them changed')
    .description(
      'Shows the last rollouts of a pool, the newest first: when, how long, how they ended, and which MachineConfigs, files, units and settings they changed; and the rendered configs that a rollback can go to. Reads only.',
    )
    .argument('<POOL>', 'the pool')
    .addOption(outputOption(['text', 'json']))
    .option('--show-secrets', 'also show password hashes and the contents of files that are secret')
    .addHelpText(
      'after',
      `
Examples:
  slipway history worker
  slipway history worker -o json | jq '.rollouts[0].changes'
  slipway rollback worker --to 1f2e3d4c           to one of the rendered configs shown`,
    )
    .action(async (pool: string, options: HistoryOptions) =>
      (await import('./history.ts')).runHistory(pool, options, io),
    );
