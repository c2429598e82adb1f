import { Command } from 'commander';
import { type Io, processIo } from '../cli/io.ts';
import { outputOption, showSecretsOption, withClusterOptions } from '../cli/options.ts';
import type { HistoryOptions } from './history.ts';

export const historyCommand = (io: Io = processIo): Command =>
  withClusterOptions(new Command('history'))
    .summary('show the rollouts of a pool, and what each one changed')
    .description(
      'Shows the last rollouts of a pool, newest first: start, duration, outcome, and the MachineConfigs, files, units and settings that changed. Also lists the rendered configs that the pool can roll back to. Read-only.',
    )
    .argument('<POOL>', 'name of the pool')
    .addOption(outputOption(['text', 'json']))
    .addOption(showSecretsOption())
    .addHelpText(
      'after',
      `
Examples:
  slipway history worker
  slipway history worker -o json | jq '.rollouts[0].changes'
  slipway rollback worker --to 1f2e3d4c           roll back to one of the rendered configs`,
    )
    .action(async (pool: string, options: HistoryOptions) =>
      (await import('./history.ts')).runHistory(pool, options, io),
    );
