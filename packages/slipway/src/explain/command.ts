import { Command } from 'commander';
import { type Io, processIo } from '../cli/io.ts';
import { manifestsOption, outputOption, withClusterOptions, withRenderOptions } from '../cli/options.ts';
import type { ExplainOptions } from './explain.ts';

export const explainCommand = (io: Io = processIo): Command =>
  withClusterOptions(withRenderOptions(new Command('explain').addOption(manifestsOption())))
    .summary('show which MachineConfig set what of a pool’s configuration')
    .description(
      'Renders a pool, from the MachineConfigs of the cluster or with -f from manifests, and shows for every file, unit, drop-in, key and argument which MachineConfig set it and which ones it overrode. With a PATH: that one with all its fields, and its final contents. Reads only.',
    )
    .argument('[POOL]', 'the MachineConfigPool to explain')
    .argument(
      '[PATH]',
      'a file (/etc/chrony.conf), a directory with all below it (/etc/crio/), a unit (crio.service), a user (core), sshkey:core, kernelArguments, extensions, osImageURL …',
    )
    .option('--pool <NAME>', 'the pool; the first argument is then the PATH')
    .addOption(outputOption(['table', 'json']))
    .option('--show-secrets', 'also show password hashes and the contents of files that are secret')
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
