import type { LogLevel } from '@slipway/kube';
import { Command, InvalidArgumentError, Option } from 'commander';
import { withClusterOptions } from './cluster-options.ts';
import type { ControllerOptions } from './controller.ts';
import { featureGatesOption } from './feature-gates-option.ts';
import { defaultNamespace } from './namespace.ts';

const logLevels: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

export const controllerCommand = (): Command =>
  withClusterOptions(new Command('controller'))
    .summary('run the controllers against a cluster')
    .description('Runs the controllers against a cluster until it is told to stop. Several may run: one of them leads.')
    .option('--namespace <name>', 'where the leader’s Lease lives', defaultNamespace)
    .addOption(featureGatesOption())
    .option('--no-leader-elect', 'start at once; only where no second one can run')
    .addOption(
      new Option('--probes <host:port>', 'where /healthz, /readyz and /metrics are served')
        .default({ host: '127.0.0.1', port: 8797 }, '127.0.0.1:8797')
        .argParser(parseAddress),
    )
    .addOption(new Option('--log-level <level>', 'how much to log').choices(logLevels).default('info'))
    .addHelpText(
      'after',
      `
Examples:
  slipway controller --kubeconfig ~/.kube/config
  slipway controller --feature-gates PinnedImages=true,OSStreams=true
  slipway controller --probes 0.0.0.0:8797        # in a pod`,
    )
    .action(async (options: ControllerOptions) => (await import('./controller.ts')).runController(options));

function parseAddress(text: string): { host: string; port: number } {
  const match = /^(.+):(\d{1,5})$/.exec(text);
  const port = Number(match?.[2]);
  if (match?.[1] === undefined || port > 65_535) {
    throw new InvalidArgumentError(`expected host:port, for example 127.0.0.1:8797, found ${JSON.stringify(text)}`);
  }
  return { host: match[1].replaceAll(/[[\]]/g, ''), port };
}
