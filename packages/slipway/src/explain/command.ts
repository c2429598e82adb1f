import { Command } from 'commander';
import { type Io, processIo } from '../cli/io.ts';
import {
  manifestsOption,
  outputOption,
  showSecretsOption,
  withClusterOptions,
  withRenderOptions,
} from '../cli/options.ts';
import type { ExplainOptions } from './explain.ts';

export const explainCommand = (io: Io = processIo): Command =>
  withClusterOptions(withRenderOptions(new Command('explain').addOption(manifestsOption())))
    .summary('show which MachineConfig set each part of a pool’s config')
    .description(
      'Renders a pool from the MachineConfigs of the cluster, or from manifests with -f. Shows which MachineConfig set every file, unit, drop-in, key and argument, and which ones it overrode. With a PATH, shows that item with all fields and its final contents. Read-only.',
    )
    .argument('[POOL]', 'MachineConfigPool to explain')
    .argument(
      '[PATH]',
      'a file (/etc/chrony.conf), a directory and everything below it (/etc/crio/), a unit (crio.service), a user (core), sshkey:core, kernelArguments, extensions, osImageURL …',
    )
    .option('--pool <NAME>', 'MachineConfigPool to explain; the first argument is then the PATH')
    .addOption(outputOption(['table', 'json']))
    .addOption(showSecretsOption())
    .addHelpText(
      'after',
      `
Examples:
  slipway explain worker
  slipway explain worker /etc/chrony.conf
  slipway explain worker kernelArguments --kubeconfig prod.kubeconfig
  slipway explain infra /etc/chrony.conf -f fleet/
  kubectl get mc,mcp -o json | slipway explain worker -f - -o json`,
    )
    .action(async (first: string | undefined, second: string | undefined, options: ExplainOptions) =>
      (await import('./explain.ts')).runExplain([first, second], options, io),
    );
