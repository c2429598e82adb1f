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

/** Apart from the controllers themselves, so that `--help` need not load them. */
export const defaultSettings: ControllerSettings = { keepRendered: 10 };

export const controllerCommand = (): Command =>
  withIronicOptions(withRegistryAccessOptions(withFirstBootOptions(withClusterOptions(new Command('controller')))))
    .summary('run the controllers against a cluster')
    .description('Runs the controllers against a cluster until it is told to stop. Several may run: one of them leads.')
    .option('--namespace <name>', 'where the leader’s Lease lives', DEFAULT_NAMESPACE)
    .addOption(featureGatesOption())
    .option('--no-leader-elect', 'start at once; only where no second one can run')
    .addOption(
      new Option('--probes <host:port>', 'where /healthz, /readyz and /metrics are served')
        .default({ host: '127.0.0.1', port: 8797 }, '127.0.0.1:8797')
        .argParser(addressParser('127.0.0.1:8797')),
    )
    .addOption(
      new Option(
        '--os-image <image>',
        'the OS image of all pools, before the ConfigMap machine-config-osimageurl',
      ).argParser(parseImage),
    )
    .addOption(
      new Option('--os-extensions-image <image>', 'the image that OS extensions come from, likewise').argParser(
        parseImage,
      ),
    )
    .addOption(
      new Option(
        '--release-image <image>',
        'the release image that OS image streams come from, where there is no ClusterVersion',
      ).argParser(parseImage),
    )
    .addOption(
      new Option(
        '--pull-secret <namespace/name>',
        'the Secret with credentials of registries (default: openshift-config/pull-secret)',
      ).argParser(parseSecretName),
    )
    .addOption(
      new Option('--daemon-image <image>', 'the image that new machines take the slipway program from').argParser(
        parseImage,
      ),
    )
    .addOption(
      new Option(
        '--allow-host <host>',
        'fetch remote content of MachineConfigs only from this host, or *.domain; again for more (default: any)',
      ).argParser(addTo),
    )
    .addOption(
      new Option(
        '--allow-address <range>',
        'fetch also from these addresses, though they are refused by default, such as 127.0.0.0/8; again for more',
      ).argParser(addRange),
    )
    .addOption(
      new Option('--keep-rendered <number>', 'rendered configs kept for each pool besides those in use')
        .default(defaultSettings.keepRendered)
        .argParser(parseCount),
    )
    .option(
      '--boot-image-canary',
      'before a MachineSet of the Machine API gets another boot image, one machine with it must become ready',
    )
    .addOption(
      new Option('--own-node <name>', 'the node that this program runs on: it is the last to change').env('NODE_NAME'),
    )
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
    .summary('serve first-booting machines their config')
    .description(
      'Answers machines at their first boot over HTTPS until it is told to stop: with the pools of a cluster, or with a directory before there is one. Any number may run; it writes nothing.',
    )
    .addOption(
      new Option('--listen <host:port>', 'where machines find it')
        .default({ host: '::', port: 22_623 }, '[::]:22623')
        .argParser(addressParser('[::]:22623')),
    )
    .option('--namespace <name>', 'where its Secrets are', DEFAULT_NAMESPACE)
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

export const installCommand = (): Command =>
  withClusterOptions(new Command('install'))
    .summary('install or update CRDs, admission policies and access control in a cluster')
    .description(
      'Installs or updates our CRDs, our admission policies and what the daemons on nodes may do. CRDs that the platform, Metal3 or Cluster API normally bring are made only where they are absent. Doing it again changes nothing.',
    )
    .option(
      '--namespace <name>',
      'where Slipway runs: its controllers are exempt from its own policies',
      DEFAULT_NAMESPACE,
    )
    .addOption(new Option('-o, --output <form>', 'how to report').choices(['text', 'json']).default('text'))
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
      'Starts a real etcd and kube-apiserver in a data directory of its own, installs CRDs and policies, and runs the controllers, the machine config server and a fleet of simulated machines against it until Ctrl-C. `npm start` is this command.',
    )
    .option('--data-dir <directory>', 'where everything is kept', join(root, '.slipway'))
    .addOption(
      new Option('--port <number>', `the API server’s port (default: ${DEFAULT_API_PORT}, else a free one)`).argParser(
        parsePort,
      ),
    )
    .option('--fresh', 'begin with an empty cluster', false)
    .addOption(
      new Option(
        '--nodes <number>',
        'how many simulated machines there are at least, each a directory with the real daemon; 0 for none at work',
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
    `expected a number from 0 to ${MAX_MACHINES}, found ${JSON.stringify(text)}: every simulated machine takes memory and a part of one processor`,
  );
}

function parsePort(text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 1 && port <= 65_535) return port;
  throw new InvalidArgumentError(`expected a number from 1 to 65535, found ${JSON.stringify(text)}`);
}
