// Whom Ironic is sent to. Ironic fetches with the access of its own network, for every user who may create a DataImage.
import { type LookupAll, resolveHost, systemLookup } from '@slipway/base/http';
import { type HostPolicy, whyAddressRefused, whyHostRefused } from '@slipway/ignition';

/** Programs disagree about what the host of other texts is: a check here would not hold for Ironic. */
const CHECKABLE = /^https?:\/\/[^\s\\@/?#]+(?:[/?#][^\s\\]*)?$/i;

/**
 * Why Ironic must not fetch from this URL; null: it may. Private networks are allowed, because ISO servers are there.
 * One refused address of a name is enough, because Ironic resolves the name again and connects to any of them. So a
 * name whose DNS answer changes after this check is not caught, and neither is a redirect: only a firewall of Ironic can
 * do that. A name that does not resolve here may resolve there.
 */
export async function whyIsoRefused(
  text: string,
  hosts: HostPolicy,
  lookupAll: LookupAll = systemLookup,
): Promise<string | null> {
  const url = CHECKABLE.test(text) ? URL.parse(text) : null;
  if (url === null) return 'spec.url is not an http or https URL with a host and without a user name';
  const { hostname } = url;
  const literal = whyHostRefused(hostname, hosts);
  if (literal !== null) return `the host ${hostname} of spec.url is not allowed: ${literal}`;
  for (const address of await resolveHost(hostname, lookupAll).catch(() => [])) {
    const why = whyAddressRefused(address, hosts);
    if (why !== null) return `the host ${hostname} of spec.url resolves to ${address}, which is not allowed: ${why}`;
  }
  return null;
}
