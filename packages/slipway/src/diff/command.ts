import { Command } from 'commander';
import { type Io, processIo } from '../cli/io.ts';
import { outputOption, withClusterOptions, withRenderOptions } from '../cli/options.ts';
import type { DiffOptions } from './diff.ts';

export const diffCommand = (io: Io = processIo): Command =>
  withClusterOptions(withRenderOptions(new Command('diff')))
    .summary('show what differs for a machine between two configurations')
    .description(
      'Compares what machines get: files by their contents, units, keys, arguments, OS images. Exits 0 when nothing differs, 2 when something does, 1 on an error.',
    )
    .argument(
      '<BEFORE>',
      'a file with one MachineConfig or Ignition config, manifests to render, or a name in a cluster',
    )
    .argument('<AFTER>', 'likewise')
    .option('--pool <NAME>', 'the MachineConfigPool to render, where manifests are given')
    .addOption(outputOption(['text', 'json']))
    .option('--show-secrets', 'also show password hashes and the contents of files that are secret')
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
