import { Command } from 'commander';
import { type Io, processIo } from '../cli/io.ts';
import { outputOption, showSecretsOption, withClusterOptions, withRenderOptions } from '../cli/options.ts';
import type { DiffOptions } from './diff.ts';

export const diffCommand = (io: Io = processIo): Command =>
  withClusterOptions(withRenderOptions(new Command('diff')))
    .summary('show what differs for a machine between two configs')
    .description(
      'Compares the result on a machine: files by their contents, units, keys, arguments and OS images. Exit codes: 0 if nothing differs, 2 if something does, 1 on an error.',
    )
    .argument(
      '<BEFORE>',
      'a file with one MachineConfig or Ignition config, manifests to render, or a MachineConfig in the cluster',
    )
    .argument('<AFTER>', 'same as BEFORE')
    .option('--pool <NAME>', 'MachineConfigPool to render, if manifests are compared')
    .addOption(outputOption(['text', 'json']))
    .addOption(showSecretsOption())
    .addHelpText(
      'after',
      `
Examples:
  slipway diff fleet-old/ fleet-new/ --pool worker
  slipway diff before.yaml after.yaml
  slipway diff fleet/ rendered-worker-1f2e… --pool worker --kubeconfig prod.kubeconfig
  slipway diff rendered-worker-1f2e… rendered-worker-9a8b… --kubeconfig prod.kubeconfig`,
    )
    .action(async (before: string, after: string, options: DiffOptions) =>
      (await import('./diff.ts')).runDiff(before, after, options, io),
    );
