import { Command, Option } from 'commander';
import { type Io, processIo } from '../cli/io.ts';
import { withManifestOptions } from '../cli/options.ts';
import type { RenderCommandOptions } from './render.ts';

export const renderForms = ['yaml', 'json', 'ignition', 'name'] as const;

export const renderCommand = (io: Io = processIo): Command =>
  withManifestOptions(new Command('render'))
    .summary('merge the MachineConfigs of a pool from manifests, without a cluster')
    .description(
      'Renders the configuration of a pool from manifests: the same name and spec as the controller gives for the same objects. What the manifests lack (the default pools, the operator’s own MachineConfigs, OS images) is said on stderr; stdout has the result alone.',
    )
    .requiredOption('--pool <NAME>', 'the MachineConfigPool to render')
    .addOption(
      new Option('-o, --output <FORM>', 'a MachineConfig as yaml or json, its Ignition config alone, or its name')
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
