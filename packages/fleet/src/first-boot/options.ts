import { DEFAULT_NAMESPACE, type Infrastructure } from '@slipway/api';
import type { Lifetime } from '@slipway/base/certificates';
import { bareHost, isHost, urlHost } from '@slipway/base/host-name';
import { FirstBootError } from '../errors.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

export interface ApiConnection {
  readonly server: string;
  /** The current CA: it may be replaced while this process runs. */
  ca(this: void): Promise<string | undefined>;
}

/** The settings for how machines join. Times are in milliseconds. */
export interface FirstBootSettings {
  /** Slipway's namespace, with the Secrets of the server. */
  namespace?: string | undefined;
  machineApiNamespace?: string | undefined;
  clusterApiNamespace?: string | undefined;
  /** The address of the server for new machines: `https://host:22623`. Omitted: from Infrastructure `cluster`. */
  serverUrl?: string | undefined;
  /** Additional names and addresses for the server's certificate. */
  serverHosts?: readonly string[] | undefined;
  /** The API server address for new machines. Omitted: from ConfigMap kube-public/cluster-info, otherwise `connection`. */
  apiServerUrl?: string | undefined;
  /** How this process reaches the API server. */
  connection?: ApiConnection | undefined;
  /** Whether stubs have tokens. Without them the server must answer every client. */
  tokens?: boolean | undefined;
  caValidity?: number | undefined;
  caRefresh?: number | undefined;
  servingValidity?: number | undefined;
  servingRefresh?: number | undefined;
  tokenLifetime?: number | undefined;
  bootstrapTokenLifetime?: number | undefined;
}

/** The same with all defaults applied. */
export interface FirstBootOptions {
  namespace: string;
  machineApiNamespace: string;
  clusterApiNamespace: string;
  serverUrl: string | undefined;
  serverHosts: readonly string[];
  apiServerUrl: string | undefined;
  connection: ApiConnection | undefined;
  tokens: boolean;
  authority: Lifetime;
  serving: Lifetime;
  tokenLifetime: number;
  bootstrapTokenLifetime: number;
}

const firstBootDefaults = {
  namespace: DEFAULT_NAMESPACE,
  machineApiNamespace: 'openshift-machine-api',
  clusterApiNamespace: 'openshift-cluster-api',
  caValidity: 10 * YEAR,
  caRefresh: 8 * YEAR,
  servingValidity: YEAR,
  servingRefresh: 240 * DAY,
  tokenLifetime: DAY,
  bootstrapTokenLifetime: DAY,
  tokens: true,
} as const;

/** The only place that validates settings; all other code trusts them. */
export function firstBootOptions(settings: FirstBootSettings): FirstBootOptions {
  const given = { ...firstBootDefaults, ...defined(settings) };
  const { namespace, machineApiNamespace, clusterApiNamespace, tokenLifetime, bootstrapTokenLifetime } = given;
  return {
    namespace,
    machineApiNamespace,
    clusterApiNamespace,
    serverUrl: settings.serverUrl === undefined ? undefined : parseOrigin('serverUrl', settings.serverUrl),
    serverHosts: (settings.serverHosts ?? []).map(parseHost),
    apiServerUrl: settings.apiServerUrl === undefined ? undefined : parseOrigin('apiServerUrl', settings.apiServerUrl),
    connection: settings.connection,
    tokens: given.tokens,
    authority: parseLifetime('ca', given.caValidity, given.caRefresh),
    serving: parseLifetime('serving', given.servingValidity, given.servingRefresh),
    tokenLifetime: positive('tokenLifetime', tokenLifetime),
    bootstrapTokenLifetime: positive('bootstrapTokenLifetime', bootstrapTokenLifetime),
  };
}

const defined = (
  settings: FirstBootSettings,
): Partial<{ [K in keyof FirstBootSettings]-?: NonNullable<FirstBootSettings[K]> }> =>
  Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));

function parseOrigin(option: string, text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const bare = url?.protocol === 'https:' && `${url.pathname}${url.search}${url.hash}${url.username}` === '/';
  if (url !== undefined && bare && isHost(bareHost(url.hostname))) return url.origin;
  // Not repeated in the message: it may contain a password.
  const found = text.includes('@') ? 'one with an @' : JSON.stringify(text.slice(0, 200));
  throw new FirstBootError(
    'SLW_FIRST_BOOT_OPTIONS',
    `${option}: expected an address such as https://api-int.example.com:22623 with nothing after the port, found ${found}`,
  );
}

function parseHost(text: string): string {
  const host = bareHost(text.toLowerCase());
  if (isHost(host)) return host;
  throw new FirstBootError(
    'SLW_FIRST_BOOT_OPTIONS',
    `serverHosts: expected a DNS name or an IP address, found ${JSON.stringify(text.slice(0, 200))}`,
  );
}

/**
 * A refresh that is too late leaves no overlap of old and new; one that is far too early grows the chain that old
 * machines need without limit.
 */
function parseLifetime(name: 'ca' | 'serving', validity: number, refresh: number): Lifetime {
  positive(`${name}Validity`, validity);
  if (refresh < validity && refresh >= validity / 4) return { validity, refresh };
  throw new FirstBootError(
    'SLW_FIRST_BOOT_OPTIONS',
    `${name}Refresh: expected at least a quarter of ${name}Validity (${seconds(validity / 4)}) and less than ${name}Validity (${seconds(validity)}), found ${seconds(refresh)}`,
  );
}

const seconds = (ms: number): string => `${ms / 1000} s`;

function positive(option: string, ms: number): number {
  if (Number.isFinite(ms) && ms >= 1000) return ms;
  throw new FirstBootError('SLW_FIRST_BOOT_OPTIONS', `${option}: expected at least 1 s, found ${seconds(ms)}`);
}

/** The address of the machine config server. */
export interface ServerAddress {
  /** `https://host:port`, as in stubs. */
  url: string;
  /** DNS names and addresses for the server's certificate. */
  hosts: string[];
}

const PORT = 22623;

/** The configured address, otherwise that of the platform; undefined: neither is known. */
export function serverAddress(
  { serverUrl, serverHosts }: { serverUrl: string | undefined; serverHosts: readonly string[] },
  infrastructure: Infrastructure | undefined,
): ServerAddress | undefined {
  const platform = platformHosts(infrastructure);
  const [first] = platform;
  const url = serverUrl ?? (first === undefined ? undefined : `https://${urlHost(first)}:${PORT}`);
  if (url === undefined) return undefined;
  return { url, hosts: [...new Set([bareHost(new URL(url).hostname), ...platform, ...serverHosts])] };
}

/**
 * If the platform has an IP address for its API server, it comes first: then only a resolver on the nodes knows the
 * name, and a machine does not have one at its first boot.
 */
function platformHosts(infrastructure: Infrastructure | undefined): string[] {
  const { apiServerInternalURI = '', platformStatus = {} } = infrastructure?.status ?? {};
  const addresses = Object.values(platformStatus).flatMap((each) =>
    typeof each === 'object' && 'apiServerInternalIPs' in each ? (each.apiServerInternalIPs ?? []) : [],
  );
  const name = URL.canParse(apiServerInternalURI) ? bareHost(new URL(apiServerInternalURI).hostname) : '';
  return [...addresses, name].filter(isHost);
}
