import { isAddressRange } from '@slipway/ignition';
import { Command, InvalidArgumentError, Option } from 'commander';
import {
  addressParser,
  addTo,
  defaultNamespace,
  featureGatesOption,
  logLevelOption,
  parseImage,
  withClusterOptions,
  withFirstBootOptions,
  withIronicOptions,
  withRegistryAccessOptions,
} from './cli/options.ts';
import type { ControllerOptions } from './controller.ts';
import { defaultSettings } from './default-settings.ts';

export const controllerCommand = (): Command =>
  withIronicOptions(withRegistryAccessOptions(withFirstBootOptions(withClusterOptions(new Command('controller')))))
    .summary('run the controllers against a cluster')
    .description('Runs the controllers against a cluster until it is told to stop. Several may run: one of them leads.')
    .option('--namespace <name>', 'where the leader’s Lease lives', defaultNamespace)
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
