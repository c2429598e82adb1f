import type { Infrastructure } from '@slipway/api';
import { bareHost, isHost, urlHost } from '@slipway/base/host-name';

/** Where machines find the machine config server. */
export interface ServerAddress {
  /** `https://host:port`, as it stands in stubs. */
  url: string;
  /** DNS names and addresses for the server's certificate. */
  hosts: string[];
}

const port = 22623;

/** The wanted address, else the platform's; undefined where neither is known. */
export function serverAddress(
  { serverUrl, serverHosts }: { serverUrl: string | undefined; serverHosts: readonly string[] },
  infrastructure: Infrastructure | undefined,
): ServerAddress | undefined {
  const platform = platformHosts(infrastructure);
  const [first] = platform;
  const url = serverUrl ?? (first === undefined ? undefined : `https://${urlHost(first)}:${port}`);
  if (url === undefined) return undefined;
  return { url, hosts: [...new Set([bareHost(new URL(url).hostname), ...platform, ...serverHosts])] };
}

/**
 * Where the platform has an address for its API server, that comes first: the name is then known only to a resolver
 * on the nodes, which a machine does not have at its first boot.
 */
function platformHosts(infrastructure: Infrastructure | undefined): string[] {
  const { apiServerInternalURI = '', platformStatus = {} } = infrastructure?.status ?? {};
  const addresses = Object.values(platformStatus).flatMap((each) =>
    typeof each === 'object' && 'apiServerInternalIPs' in each ? (each.apiServerInternalIPs ?? []) : [],
  );
  const name = URL.canParse(apiServerInternalURI) ? bareHost(new URL(apiServerInternalURI).hostname) : '';
  return [...addresses, name].filter(isHost);
}
