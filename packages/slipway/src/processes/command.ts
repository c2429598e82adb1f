import { join, resolve } from 'node:path';
import { featureGates } from '@slipway/fleet/feature-gates';
import { isAddressRange } from '@slipway/ignition';
import { MAX_MACHINES, DEFAULT_MACHINES } from '@slipway/simulator/shares';
import { Command, InvalidArgumentError, Option } from 'commander';
import {
  addressParser,
  addTo,
  DEFAULT_NAMESPACE,
  featureGatesOption,
  logLevelOption,
  parseImage,
  DEFAULT_API_PORT,
  withClusterOptions,
  withFirstBootOptions,
  withIronicOptions,
  withRegistryAccessOptions,
} from '../cli/options.ts';
import type { ControllerOptions } from './controller.ts';
import type { ControllerSettings } from './controllers.ts';
import type { InstallOptions } from './install.ts';
import type { ServerCommandOptions } from './server.ts';
import type { StartOptions } from './start.ts';

/** Not in controllers.ts, so that `--help` does not load the controllers. */
export const defaultSettings: ControllerSettings = { keepRendered: 10 };

export const controllerCommand = (): Command =>
  withIronicOptions(withRegistryAccessOptions(withFirstBootOptions(withClusterOptions(new Command('controller')))))
    .summary('run the controllers against a cluster')
    .description('Runs the controllers against a cluster until SIGTERM or Ctrl-C. With several replicas, one leads.')
    .option('--namespace <name>', 'namespace of the leader election Lease', DEFAULT_NAMESPACE)
    .addOption(featureGatesOption())
    .option('--no-leader-elect', 'start immediately; safe only if no second replica can run')
    .addOption(
      new Option('--probes <host:port>', 'address of /healthz, /readyz and /metrics')
        .default({ host: '127.0.0.1', port: 8797 }, '127.0.0.1:8797')
        .argParser(addressParser('127.0.0.1:8797')),
    )
    .addOption(
      new Option(
        '--os-image <image>',
        'OS image of all pools; overrides the ConfigMap machine-config-osimageurl',
      ).argParser(parseImage),
    )
    .addOption(
      new Option('--os-extensions-image <image>', 'image with the OS extensions; overrides the ConfigMap').argParser(
        parseImage,
      ),
    )
    .addOption(
      new Option(
        '--release-image <image>',
        'release image that provides the OS image streams if the cluster has no ClusterVersion',
      ).argParser(parseImage),
    )
    .addOption(
      new Option(
        '--pull-secret <namespace/name>',
        'Secret with the registry credentials (default: openshift-config/pull-secret)',
      ).argParser(parseSecretName),
    )
    .addOption(
      new Option('--daemon-image <image>', 'image with the slipway program for new machines').argParser(parseImage),
    )
    .addOption(
      new Option(
        '--allow-host <host>',
        'fetch remote content of MachineConfigs only from this host, such as *.example.com; repeatable (default: any)',
      ).argParser(addTo),
    )
    .addOption(
      new Option(
        '--allow-address <range>',
        'also fetch from these addresses, which are refused by default, such as 127.0.0.0/8, and allow ISOs there; repeatable',
      ).argParser(addRange),
    )
    .addOption(
      new Option('--keep-rendered <number>', 'unused rendered configs to keep for each pool')
        .default(defaultSettings.keepRendered)
        .argParser(parseCount),
    )
    .option(
      '--boot-image-canary',
      'require one machine to become ready with a new boot image before a Machine API MachineSet gets it, one MachineSet at a time',
    )
    .addOption(new Option('--own-node <name>', 'node that runs this program; it is updated last').env('NODE_NAME'))
    .addOption(logLevelOption())
    .addHelpText(
      'after',
      `
Examples:
  slipway controller --kubeconfig ~/.kube/config
  slipway controller --server-url https://api-int.example.com:22623 --token-lifetime 8h
  slipway controller --feature-gates PinnedImages=true,OSStreams=true
  slipway controller --feature-gates OSStreams=true --release-image registry.local/release@sha256:… --registry-ca ca.crt
  slipway controller --feature-gates ManagedBootImages=true --boot-image-canary
  slipway controller --ironic-url https://ironic.local:6385 --ironic-ca ca.crt --ironic-auth ironic.txt
  slipway controller --probes 0.0.0.0:8797        # in a pod`,
    )
    .action(async (options: ControllerOptions) => (await import('./controller.ts')).runController(options));

function addRange(text: string, before?: string[]): string[] {
  if (isAddressRange(text)) return addTo(text, before);
  throw new InvalidArgumentError(`expected an address or a range like 10.0.0.0/8, found ${JSON.stringify(text)}`);
}

function parseSecretName(text: string): { namespace: string; name: string } {
  const [, namespace, name] = /^([a-z0-9][a-z0-9-]{0,62})\/([a-z0-9][a-z0-9.-]{0,252})$/.exec(text) ?? [];
  if (namespace !== undefined && name !== undefined) return { namespace, name };
  throw new InvalidArgumentError(`expected NAMESPACE/NAME of a Secret, found ${JSON.stringify(text)}`);
}

function parseCount(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1 && count <= 1000) return count;
  throw new InvalidArgumentError(`expected a number from 1 to 1000, found ${JSON.stringify(text)}`);
}

export const serverCommand = (): Command =>
  withClusterOptions(new Command('server'))
    .summary('serve configs to machines at first boot')
    .description(
      'Serves configs over HTTPS to machines at first boot, until SIGTERM or Ctrl-C. The configs come from the pools of a cluster or, before a cluster exists, from a directory. It writes nothing, so any number of replicas may run.',
    )
    .addOption(
      new Option('--listen <host:port>', 'address to listen on')
        .default({ host: '::', port: 22_623 }, '[::]:22623')
        .argParser(addressParser('[::]:22623')),
    )
    .option('--namespace <name>', 'namespace of its Secrets', DEFAULT_NAMESPACE)
    .option('--allow-anonymous', 'serve machines without a provisioning token too', false)
    .option('--bootstrap <directory>', 'serve the output of slipway bootstrap from this directory, without a cluster')
    .addOption(
      new Option('--probes <host:port>', 'address of /healthz, /readyz and /metrics')
        .default({ host: '127.0.0.1', port: 8798 }, '127.0.0.1:8798')
        .argParser(addressParser('127.0.0.1:8798')),
    )
    .addOption(logLevelOption())
    .addHelpText(
      'after',
      `
Examples:
  slipway server --kubeconfig ~/.kube/config
  slipway server --bootstrap ./bootstrap           # for the first machines of a new cluster
  slipway server --probes 0.0.0.0:8798             # in a pod`,
    )
    .action(async (options: ServerCommandOptions) => (await import('./server.ts')).runServer(options));

export const installCommand = (): Command =>
  withClusterOptions(new Command('install'))
    .summary('install or update CRDs, admission policies and access control in a cluster')
    .description(
      'Installs or updates Slipway’s CRDs, admission policies and the RBAC of the daemons on nodes. CRDs that the platform, Metal3 or Cluster API normally provide are created only if they are missing. Running it again changes nothing.',
    )
    .option(
      '--namespace <name>',
      'namespace of Slipway; its controllers there are exempt from its policies',
      DEFAULT_NAMESPACE,
    )
    .addOption(new Option('-o, --output <form>', 'output format').choices(['text', 'json']).default('text'))
    .addHelpText(
      'after',
      `
Examples:
  slipway install
  slipway install --kubeconfig prod.kubeconfig -o json`,
    )
    .action(async (options: InstallOptions) => (await import('./install.ts')).runInstall(options));

const root = resolve(import.meta.dirname, '../../../..');

export const startCommand = (): Command =>
  new Command('start')
    .summary(
      'run everything on this machine: a real API server, etcd, the controllers, and a fleet of simulated machines',
    )
    .description(
      'Starts a real etcd and kube-apiserver, installs CRDs and policies, and runs the controllers, the machine config server and a fleet of simulated machines until Ctrl-C. All data is in one directory. `npm start` runs this command.',
    )
    .option('--data-dir <directory>', 'directory for all data', join(root, '.slipway'))
    .addOption(
      new Option(
        '--port <number>',
        `port of the API server (default: ${DEFAULT_API_PORT}, or a free one if taken)`,
      ).argParser(parsePort),
    )
    .option('--fresh', 'delete all data and start with an empty cluster', false)
    .addOption(
      new Option(
        '--nodes <number>',
        'minimum number of simulated machines; each is a directory with the real daemon; 0 runs none',
      )
        .default(DEFAULT_MACHINES, `${DEFAULT_MACHINES}: 3 masters, 3 workers, 2 of the custom pool infra`)
        .argParser(parseNodes),
    )
    .addOption(featureGatesOption().default(Object.fromEntries(featureGates.map((name) => [name, true])), 'all on'))
    .addHelpText(
      'after',
      `
Examples:
  npm start
  npm start -- --fresh
  npm start -- --nodes 100
  npm start -- --data-dir /tmp/slipway --port 7443`,
    )
    .action(async (options: StartOptions) => (await import('./start.ts')).start(options));

function parseNodes(text: string): number {
  const nodes = text === '' ? Number.NaN : Number(text);
  if (Number.isInteger(nodes) && nodes >= 0 && nodes <= MAX_MACHINES) return nodes;
  throw new InvalidArgumentError(
    `expected a number from 0 to ${MAX_MACHINES}, found ${JSON.stringify(text)}: each simulated machine needs memory and part of one CPU core`,
  );
}

function parsePort(text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 1 && port <= 65_535) return port;
  throw new InvalidArgumentError(`expected a number from 1 to 65535, found ${JSON.stringify(text)}`);
}
