import { Command, Option } from 'commander';
import { type Io, processIo } from '../cli/io.ts';
import { withManifestOptions } from '../cli/options.ts';
import type { ExplainOptions } from './explain.ts';

export const explainCommand = (io: Io = processIo): Command =>
  withManifestOptions(new Command('explain'))
    .summary('show which MachineConfig set what of a pool’s configuration')
    .description(
      'Renders a pool from manifests and shows for every file, unit, drop-in, key and argument which MachineConfig set it and which ones it overrode. With a PATH: that one with all its fields, and its final contents.',
    )
    .argument(
      '[PATH]',
      'a file (/etc/chrony.conf), a directory with all below it (/etc/crio/), a unit (crio.service), a user (core), sshkey:core, kernelArguments, extensions, osImageURL …',
    )
    .requiredOption('--pool <NAME>', 'the MachineConfigPool to explain')
    .addOption(new Option('-o, --output <FORM>', 'how to show it').choices(['table', 'json']).default('table'))
    .option('--show-secrets', 'also show password hashes and the contents of files that are secret')
    .addHelpText(
      'after',
      `
Examples:
  slipway explain -f fleet/ --pool worker
  slipway explain -f fleet/ --pool worker /etc/chrony.conf
  slipway explain -f fleet/ --pool infra kernelArguments
  kubectl get mc,mcp -o json | slipway explain -f - --pool worker -o json`,
    )
    .action(async (path: string | undefined, options: ExplainOptions) =>
      (await import('./explain.ts')).runExplain(path, options, io),
    );
