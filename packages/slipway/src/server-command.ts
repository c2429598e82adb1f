import { Command, Option } from 'commander';
import { addressParser, defaultNamespace, logLevelOption, withClusterOptions } from './cli/options.ts';
import type { ServerCommandOptions } from './server.ts';

export const serverCommand = (): Command =>
  withClusterOptions(new Command('server'))
    .summary('serve first-booting machines their config')
    .description(
      'Answers machines at their first boot over HTTPS until it is told to stop: with the pools of a cluster, or with a directory before there is one. Any number may run; it writes nothing.',
    )
    .addOption(
      new Option('--listen <host:port>', 'where machines find it')
        .default({ host: '::', port: 22_623 }, '[::]:22623')
        .argParser(addressParser('[::]:22623')),
    )
    .option('--namespace <name>', 'where its Secrets are', defaultNamespace)
    .option(
      '--allow-anonymous',
      'answer machines without a provisioning token too (default: only on OpenShift, whose stubs have none)',
    )
    .option('--no-allow-anonymous', 'answer only machines with a token, on OpenShift too')
    .option('--bootstrap <directory>', 'serve what slipway bootstrap wrote there; no cluster is asked')
    .addOption(
      new Option('--probes <host:port>', 'where /healthz, /readyz and /metrics are served')
        .default({ host: '127.0.0.1', port: 8798 }, '127.0.0.1:8798')
        .argParser(addressParser('127.0.0.1:8798')),
    )
    .addOption(logLevelOption())
    .addHelpText(
      'after',
      `
Examples:
  slipway server --kubeconfig ~/.kube/config
  slipway server --bootstrap ./bootstrap           # the first machines of a cluster to be
  slipway server --probes 0.0.0.0:8798             # in a pod`,
    )
    .action(async (options: ServerCommandOptions) => (await import('./server.ts')).runServer(options));
