import { Command } from 'commander';
import { type Io, processIo } from '../cli/io.ts';
import { manifestsOption, outputOption } from '../cli/options.ts';
import type { ValidateOptions } from './validate.ts';

/** 1 means an error in a manifest, so a command line that cannot be used exits with 2. */
class ValidateCommand extends Command {
  override error(message: string, options: Parameters<Command['error']>[1] = {}): never {
    return super.error(message, { ...options, exitCode: 2 });
  }
}

export const validateCommand = (io: Io = processIo): Command =>
  new ValidateCommand('validate')
    .summary('check manifests, without a cluster')
    .description(
      'Checks manifests like the API server and the controllers: the schema, unknown fields, names, the admission policies, contents that no machine can use, and what depends on several objects. Objects of other APIs are counted and not checked. Remote content is not fetched. Exit codes: 0 if there are no errors, 1 if there are, 2 if it could not check.',
    )
    .addOption(manifestsOption().makeOptionMandatory())
    .addOption(outputOption(['text', 'json', 'github'], 'output format; github: annotations for GitHub Actions'))
    .addHelpText(
      'after',
      `
Examples:
  slipway validate -f fleet/
  slipway validate -f fleet/ -o github
  slipway validate -f fleet/ -o json | jq '.findings[] | select(.severity == "error")'
  kubectl kustomize overlays/prod | slipway validate -f -`,
    )
    .action(async (options: ValidateOptions) => (await import('./validate.ts')).runValidate(options, io));
