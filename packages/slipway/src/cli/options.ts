// Flags that several commands have, and how they are read.
import type { FeatureGateSettings } from '@slipway/fleet';
// Not by the package's front door: it would load every schema, for `--version` too.
import { featureGates, parseFeatureGates } from '@slipway/fleet/feature-gates';
import type { LogLevel } from '@slipway/kube';
import { type Command, InvalidArgumentError, Option } from 'commander';

/** The options of every command that talks to a cluster. */
export const withClusterOptions = (command: Command): Command =>
  command
    .addOption(
      new Option('--kubeconfig <file>', 'the cluster to talk to (default: $KUBECONFIG, the pod’s own, ~/.kube/config)'),
    )
    .addOption(new Option('--context <name>', 'another context of the kubeconfig than its current one'));

/** For every command that shows pools with their machines, once or as they change. */
export const withPoolStatusOptions = (command: Command): Command =>
  withClusterOptions(command)
    .argument('[POOL...]', 'only these pools')
    .option('-w, --watch', 'follow the cluster until Ctrl-C; in a pipe, a line for each change')
    .option('--all-nodes', 'show every node also of pools with more than 20')
    .addOption(outputOption(['table', 'json']));

/** The first form is what comes without the flag. */
export const outputOption = (forms: readonly [string, ...string[]], help = 'how to show it'): Option =>
  new Option('-o, --output <FORM>', help).choices(forms).default(forms[0]);

/** In seconds, up to `max`. */
export const secondsParser =
  (max: number) =>
  (text: string): number => {
    const seconds = Number(text);
    if (Number.isFinite(seconds) && seconds > 0 && seconds <= max) return seconds;
    throw new InvalidArgumentError(`expected seconds, more than 0 and at most ${max}, found ${JSON.stringify(text)}`);
  };

export interface ListenAddress {
  host: string;
  port: number;
}

/** Reads host:port, with an IPv6 host in brackets. */
export const addressParser =
  (example: string) =>
  (text: string): ListenAddress => {
    const match = /^(.+):(\d{1,5})$/.exec(text);
    const port = Number(match?.[2]);
    if (match?.[1] === undefined || port > 65_535) {
      throw new InvalidArgumentError(`expected host:port, for example ${example}, found ${JSON.stringify(text)}`);
    }
    return { host: match[1].replaceAll(/[[\]]/g, ''), port };
  };

export const featureGatesOption = (): Option =>
  new Option(
    '--feature-gates <list>',
    `Name=true|false,…; used where the cluster has no FeatureGate “cluster”. Gates: ${featureGates.join(', ')}`,
  ).argParser(parse);

function parse(text: string): FeatureGateSettings {
  const parsed = parseFeatureGates(text);
  if (!parsed.ok) throw new InvalidArgumentError(parsed.problem);
  return parsed.settings;
}

/** One value each time an option is given. */
export const addTo = (text: string, before: string[] = []): string[] => [...before, text];

/** The options of the controllers that make certificates, tokens and stubs. Times become milliseconds. */
export const withFirstBootOptions = (command: Command): Command =>
  command
    .option(
      '--server-url <url>',
      'where new machines find the machine config server: https://host:22623 (default: by Infrastructure cluster)',
    )
    .addOption(
      new Option('--server-host <host>', 'another name of the server, for its certificate; again for more').argParser(
        addTo,
      ),
    )
    .option('--api-server-url <url>', 'where new machines find the API server (default: kube-public/cluster-info)')
    .option(
      '--machine-api-namespace <name>',
      'where MachineSets of the Machine API live (default: openshift-machine-api)',
    )
    .option('--cluster-api-namespace <name>', 'where MachineSets of Cluster API live (default: openshift-cluster-api)')
    .addOption(new Option('--stub-tokens', 'put provisioning tokens into stubs (default: except on OpenShift)'))
    .addOption(new Option('--no-stub-tokens', 'put none into stubs; the server then needs --allow-anonymous'))
    .addOption(duration('--token-lifetime', 'how long a provisioning token is valid (default: 24h)'))
    .addOption(duration('--bootstrap-token-lifetime', 'how long a token of a joining kubelet is valid (default: 24h)'))
    .addOption(duration('--ca-validity', 'how long a CA of the server is valid (default: 3650d)'))
    .addOption(duration('--ca-refresh', 'the age at which it gets a successor (default: 2920d)'))
    .addOption(duration('--serving-validity', 'how long a certificate of the server is valid (default: 365d)'))
    .addOption(duration('--serving-refresh', 'the age at which it is renewed (default: 240d)'));

const units: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

export const duration = (flag: string, help: string): Option =>
  new Option(`${flag} <duration>`, help).argParser(parseDuration);

/** In milliseconds. */
function parseDuration(text: string): number {
  const [, number = '', unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const ms = Number(number) * (units[unit] ?? 0);
  if (ms > 0) return ms;
  throw new InvalidArgumentError(`expected a number and s, m, h or d, such as 24h, found ${JSON.stringify(text)}`);
}

/** It becomes part of a unit's command line. */
export function parseImage(text: string): string {
  if (/^[a-zA-Z0-9][a-zA-Z0-9._:/@-]{0,446}$/.test(text)) return text;
  throw new InvalidArgumentError(
    `expected an image such as registry.example.com/os@sha256:…, found ${JSON.stringify(text)}`,
  );
}

/** How bare-metal hosts are reached; without a URL they are left alone. */
export interface IronicFlags {
  ironicUrl?: string | undefined;
  ironicCa?: string | undefined;
  ironicAuth?: string | undefined;
  dataImagesBesideOperator?: boolean | undefined;
}

export const withIronicOptions = (command: Command): Command =>
  command
    .option('--ironic-url <URL>', 'manage bare-metal hosts and their DataImages through the Ironic at this address')
    .option('--ironic-ca <FILE>', 'certificate authorities of Ironic, in PEM, beside those of the system')
    .option('--ironic-auth <FILE>', 'credentials for Ironic: one line, USERNAME:PASSWORD')
    .option(
      '--data-images-beside-operator',
      'only DataImages: another operator registers and powers the hosts, and does not handle DataImages itself',
    );

/** Written out here: loading @slipway/kube for them would make `--version` and `--help` slow. */
const logLevels: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

export const logLevelOption = (): Option =>
  new Option('--log-level <level>', 'how much to log').choices(logLevels).default('info');

/** How registries are spoken to. */
export interface RegistryAccessFlags {
  registriesConf?: string | undefined;
  registryCa?: string | undefined;
  plainHttp?: string[] | undefined;
}

/** How images are asked for. */
export interface RegistryFlags extends RegistryAccessFlags {
  pullSecret?: string;
  arch: string;
}

export const withRegistryOptions = (command: Command): Command =>
  withRegistryAccessOptions(command)
    .option('--pull-secret <FILE>', 'credentials of registries, as .dockerconfigjson has them')
    .addOption(
      new Option('--arch <NAME>', 'the machines’ architecture, for images of several')
        .choices(['amd64', 'arm64', 'ppc64le', 's390x'])
        .default('amd64'),
    );

/** The same for who takes the pull secret from somewhere else. */
export const withRegistryAccessOptions = (command: Command): Command =>
  command
    .option('--registries-conf <FILE>', 'mirrors of registries, as containers-registries.conf(5) has them')
    .option('--registry-ca <FILE>', 'certificate authorities of registries, in PEM, beside those of the system')
    .option('--plain-http <HOST:PORT>', 'speak to this registry without TLS; repeatable', addHost);

function addHost(text: string, before?: string[]): string[] {
  if (/^(?:[a-zA-Z0-9.-]+|\[[0-9a-fA-F:.]+\])(?::\d{1,5})?$/.test(text)) return addTo(text, before);
  throw new InvalidArgumentError(`expected a host such as registry.local:5000, found ${JSON.stringify(text)}`);
}

/** Where our own objects live, on plain Kubernetes too: users' manifests and habits name it. */
export const DEFAULT_NAMESPACE = 'openshift-machine-config-operator';

/** What every command that reads manifests and renders takes. */
export interface ManifestOptions extends RenderOptions {
  filename: string[];
}

/** What a render needs to know beside the manifests. */
export interface RenderOptions extends RemoteOptions {
  namespace: string;
  osImage?: string;
  osExtensionsImage?: string;
  daemonImage?: string;
  controllerVersion?: string;
}

/** How remote content may be fetched. */
export interface RemoteOptions {
  fetch: boolean;
  allowHost?: string[];
  allowAddress?: string[];
  fetchTimeout: number;
}

export const withManifestOptions = (command: Command): Command =>
  withRenderOptions(command.addOption(manifestsOption().makeOptionMandatory()));

export const manifestsOption = (): Option =>
  new Option(
    '-f, --filename <PATH>',
    'manifests: a file, a directory with everything below it, or - for stdin; repeatable',
  ).argParser(addTo);

/** The same without the manifests themselves. */
export const withRenderOptions = (command: Command): Command =>
  command
    .option('--namespace <name>', 'where the ConfigMap with the OS images lives', DEFAULT_NAMESPACE)
    .option('--os-image <IMAGE>', 'the platform’s OS image, before that of the manifests', parseImage)
    .option('--os-extensions-image <IMAGE>', 'the image that OS extensions come from, likewise', parseImage)
    .option('--daemon-image <IMAGE>', 'the image that new machines take the slipway program from', parseImage)
    .option('--controller-version <VERSION>', 'render as a controller of this version (default: this program’s)')
    .option('--no-fetch', 'refuse MachineConfigs that refer to remote content instead of fetching it')
    .option('--allow-host <HOST>', 'fetch only from this host, such as *.example.com; repeatable', addTo)
    .option('--allow-address <CIDR>', 'connect to these loopback, link-local or metadata addresses; repeatable', addTo)
    .addOption(
      new Option('--fetch-timeout <SECONDS>', 'for the remote content of one MachineConfig')
        .default(300)
        .argParser(readSeconds),
    );

export function readSeconds(text: string): number {
  const seconds = Number(text);
  if (Number.isFinite(seconds) && seconds > 0 && seconds <= 86_400) return seconds;
  throw new InvalidArgumentError('Expected a number of seconds from 1 to 86400.');
}

/** Where people expect an API server. */
export const DEFAULT_API_PORT = 6443;

/** Where machines expect a machine config server. */
export const DEFAULT_SERVER_PORT = 22_623;
