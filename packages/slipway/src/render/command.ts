import { Command, Option } from 'commander';
import { type Io, processIo } from '../cli/io.ts';
import { withManifestOptions } from '../cli/options.ts';
import type { RenderCommandOptions } from './render.ts';

export const renderForms = ['yaml', 'json', 'ignition', 'name'] as const;

export const renderCommand = (io: Io = processIo): Command =>
  withManifestOptions(new Command('render'))
    .summary('merge the MachineConfigs of a pool from manifests, without a cluster')
    .description(
      'Renders the config of a pool from manifests, with the name and spec that the controller would compute from the same objects. Defaults for what the manifests lack (default pools, built-in MachineConfigs, OS images) are listed on stderr; stdout has only the result.',
    )
    .requiredOption('--pool <NAME>', 'MachineConfigPool to render')
    .addOption(
      new Option('-o, --output <FORM>', 'the MachineConfig as yaml or json, only its Ignition config, or only its name')
        .choices(renderForms)
        .default('yaml'),
    )
    .addHelpText(
      'after',
      `
Examples:
  slipway render -f fleet/ --pool worker
  slipway render -f fleet/ -f 99-try.yaml --pool infra -o name
  slipway render -f fleet/ --pool worker -o ignition > worker.ign
  kubectl get mc,mcp,cm -A -o json | slipway render -f - --pool worker -o name`,
    )
    .action(async (options: RenderCommandOptions) => (await import('./render.ts')).runRender(options, io));
