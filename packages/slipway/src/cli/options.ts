// Flags that several commands share, and their parsers.
import type { FeatureGateSettings } from '@slipway/fleet';
// Not from the package's index, which would load every schema, even for `--version`.
import { featureGates, parseFeatureGates } from '@slipway/fleet/feature-gates';
import type { LogLevel } from '@slipway/kube';
import { type Command, InvalidArgumentError, Option } from 'commander';

/** The options of every command that talks to a cluster. */
export const withClusterOptions = (command: Command): Command =>
  command
    .addOption(
      new Option(
        '--kubeconfig <file>',
        'kubeconfig of the cluster (default: $KUBECONFIG, in-cluster config, ~/.kube/config)',
      ),
    )
    .addOption(new Option('--context <name>', 'context of the kubeconfig (default: its current context)'));

/** For commands that show pools and their machines, once or with --watch. */
export const withPoolStatusOptions = (command: Command): Command =>
  withClusterOptions(command)
    .argument('[POOL...]', 'show only these pools')
    .option('-w, --watch', 'follow the cluster until Ctrl-C; in a pipe, print one line per change')
    .option('--all-nodes', 'show every node, even in pools of more than 20')
    .addOption(outputOption(['table', 'json']));

/** The first form is the default. */
export const outputOption = (forms: readonly [string, ...string[]], help = 'output format'): Option =>
  new Option('-o, --output <FORM>', help).choices(forms).default(forms[0]);

export const showSecretsOption = (): Option =>
  new Option(
    '--show-secrets',
    'also show secrets: password hashes, secret files, and passwords, keys and tokens in other contents',
  );

/** Parses seconds, up to `max`. */
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

/** Parses host:port, with an IPv6 host in brackets. */
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
    `Name=true|false,…; applies if the cluster has no FeatureGate “cluster”. Gates: ${featureGates.join(', ')}`,
  ).argParser(parse);

function parse(text: string): FeatureGateSettings {
  const parsed = parseFeatureGates(text);
  if (!parsed.ok) throw new InvalidArgumentError(parsed.problem);
  return parsed.settings;
}

/** Collects the values of a repeatable option. */
export const addTo = (text: string, before: string[] = []): string[] => [...before, text];

/** Options of the controllers that create certificates, tokens and stubs. Durations are parsed to milliseconds. */
export const withFirstBootOptions = (command: Command): Command =>
  command
    .option(
      '--server-url <url>',
      'machine config server for new machines: https://host:22623 (default: derived from Infrastructure “cluster”)',
    )
    .addOption(
      new Option('--server-host <host>', 'additional host name for the server’s certificate; repeatable').argParser(
        addTo,
      ),
    )
    .option('--api-server-url <url>', 'API server for new machines (default: from kube-public/cluster-info)')
    .option('--machine-api-namespace <name>', 'namespace of Machine API MachineSets (default: openshift-machine-api)')
    .option('--cluster-api-namespace <name>', 'namespace of Cluster API MachineSets (default: openshift-cluster-api)')
    .addOption(
      new Option('--no-stub-tokens', 'put no provisioning tokens into stubs; the server then needs --allow-anonymous'),
    )
    .addOption(duration('--token-lifetime', 'lifetime of provisioning tokens (default: 24h)'))
    .addOption(duration('--bootstrap-token-lifetime', 'lifetime of kubelet bootstrap tokens (default: 24h)'))
    .addOption(duration('--ca-validity', 'lifetime of the server’s CA (default: 3650d)'))
    .addOption(duration('--ca-refresh', 'age at which the CA is replaced (default: 2920d)'))
    .addOption(duration('--serving-validity', 'lifetime of the server’s certificate (default: 365d)'))
    .addOption(duration('--serving-refresh', 'age at which the certificate is renewed (default: 240d)'));

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

/** Strict, because the image becomes part of a unit's command line. */
export function parseImage(text: string): string {
  if (/^[a-zA-Z0-9][a-zA-Z0-9._:/@-]{0,446}$/.test(text)) return text;
  throw new InvalidArgumentError(
    `expected an image such as registry.example.com/os@sha256:…, found ${JSON.stringify(text)}`,
  );
}

/** Access to bare-metal hosts. Without a URL, they are not managed. */
export interface IronicFlags {
  ironicUrl?: string | undefined;
  ironicCa?: string | undefined;
  ironicAuth?: string | undefined;
  dataImagesBesideOperator?: boolean | undefined;
}

export const withIronicOptions = (command: Command): Command =>
  command
    .option('--ironic-url <URL>', 'manage bare-metal hosts and their DataImages through this Ironic')
    .option('--ironic-ca <FILE>', 'CA certificates for Ironic, in PEM, in addition to the system’s')
    .option('--ironic-auth <FILE>', 'credentials for Ironic: one line, USERNAME:PASSWORD')
    .option(
      '--data-images-beside-operator',
      'manage only DataImages; another operator, which must not handle DataImages, registers and powers the hosts',
    );

/** Repeated here, because loading @slipway/kube would slow down `--version` and `--help`. */
const logLevels: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

export const logLevelOption = (): Option =>
  new Option('--log-level <level>', 'lowest level to log').choices(logLevels).default('info');

/** How to connect to registries. */
export interface RegistryAccessFlags {
  registriesConf?: string | undefined;
  registryCa?: string | undefined;
  plainHttp?: string[] | undefined;
}

/** How to request images. */
export interface RegistryFlags extends RegistryAccessFlags {
  pullSecret?: string;
  arch: string;
}

export const withRegistryOptions = (command: Command): Command =>
  withRegistryAccessOptions(command)
    .option('--pull-secret <FILE>', 'registry credentials, in .dockerconfigjson format')
    .addOption(
      new Option('--arch <NAME>', 'architecture of the machines, for multi-architecture images')
        .choices(['amd64', 'arm64', 'ppc64le', 's390x'])
        .default('amd64'),
    );

/** The same for commands that read the pull secret from elsewhere. */
export const withRegistryAccessOptions = (command: Command): Command =>
  command
    .option('--registries-conf <FILE>', 'registry mirrors, in containers-registries.conf(5) format')
    .option('--registry-ca <FILE>', 'CA certificates for registries, in PEM, in addition to the system’s')
    .option('--plain-http <HOST:PORT>', 'connect to this registry without TLS; repeatable', addHost);

function addHost(text: string, before?: string[]): string[] {
  if (/^(?:[a-zA-Z0-9.-]+|\[[0-9a-fA-F:.]+\])(?::\d{1,5})?$/.test(text)) return addTo(text, before);
  throw new InvalidArgumentError(`expected a host such as registry.local:5000, found ${JSON.stringify(text)}`);
}

/** The namespace of our objects, on plain Kubernetes too: users' manifests and habits name it. */
export const DEFAULT_NAMESPACE = 'openshift-machine-config-operator';

/** Options of every command that reads manifests and renders. */
export interface ManifestOptions extends RenderOptions {
  filename: string[];
}

/** Inputs of a render in addition to the manifests. */
export interface RenderOptions extends RemoteOptions {
  namespace: string;
  osImage?: string;
  osExtensionsImage?: string;
  daemonImage?: string;
  controllerVersion?: string;
}

/** Limits on fetching remote content. */
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
    'manifests: a file, a directory (recursive), or - for stdin; repeatable',
  ).argParser(addTo);

/** The same without the manifests themselves. */
export const withRenderOptions = (command: Command): Command =>
  command
    .option('--namespace <name>', 'namespace of the ConfigMap with the OS images', DEFAULT_NAMESPACE)
    .option('--os-image <IMAGE>', 'OS image of the platform; overrides the one in the manifests', parseImage)
    .option(
      '--os-extensions-image <IMAGE>',
      'image with the OS extensions; overrides the one in the manifests',
      parseImage,
    )
    .option('--daemon-image <IMAGE>', 'image with the slipway program for new machines', parseImage)
    .option(
      '--controller-version <VERSION>',
      'render like a controller of this version (default: the version of this program)',
    )
    .option('--no-fetch', 'refuse MachineConfigs with remote content instead of fetching it')
    .option('--allow-host <HOST>', 'fetch only from this host, such as *.example.com; repeatable', addTo)
    .option(
      '--allow-address <CIDR>',
      'allow these private, loopback, link-local or metadata addresses; repeatable',
      addTo,
    )
    .addOption(
      new Option('--fetch-timeout <SECONDS>', 'timeout for the remote content of one MachineConfig')
        .default(300)
        .argParser(readSeconds),
    );

export function readSeconds(text: string): number {
  const seconds = Number(text);
  if (Number.isFinite(seconds) && seconds > 0 && seconds <= 86_400) return seconds;
  throw new InvalidArgumentError(`expected seconds, more than 0 and at most 86400, found ${JSON.stringify(text)}`);
}

/** The port where users expect an API server. */
export const DEFAULT_API_PORT = 6443;

/** The port where machines expect a machine config server. */
export const DEFAULT_SERVER_PORT = 22_623;
