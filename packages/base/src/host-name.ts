import { isIP, isIPv6 } from 'node:net';

/** As written in a certificate: IPv6 without brackets, no trailing dot. */
export const bareHost = (hostname: string): string => hostname.replaceAll(/^\[|\]$/g, '').replace(/\.$/, '');

/** As written in a URL: IPv6 in brackets. */
export const urlHost = (host: string): string => (isIPv6(host) ? `[${host}]` : host);

const LABEL = '[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?';
const dnsName = new RegExp(`^(?=.{1,253}$)${LABEL}(\\.${LABEL})*$`);

/** Whether the host is an IP address or a lower-case DNS name. */
export const isHost = (host: string): boolean => isIP(host) !== 0 || dnsName.test(host);
