// Admission policies for DataImages.
import type { Identity } from '../identity.ts';
import type { PolicyDefinition } from '../policy.ts';
import { bareMetalHosts } from './bare-metal-host.ts';
import { bmcDrivers } from './bmc-drivers.ts';
import { type DataImage, dataImages, DRIVE_MEMORY_ANNOTATION } from './data-image.ts';

const MAX_URL_CHARS = 2048;
const EXAMPLE = 'such as https://isos.example.com/worker-0.iso';

const NO_PASSWORD =
  'expected no user name or password, because all users who can read the object can see them. Serve the ISO only to the addresses of the BMCs and of Ironic, or at an unguessable path';

const NAMED = "'DataImage ' + object.metadata.namespace + '/' + object.metadata.name + ', spec.url: '";

const nameOf = ({ metadata: { namespace = 'default', name } }: DataImage): string => `DataImage ${namespace}/${name}`;

const refusesUrl = (isFaulty: (url: string) => boolean, describe: (url: string) => string) => (image: DataImage) => {
  const url = image.spec?.url ?? '';
  return isFaulty(url) ? describe(url) : undefined;
};

const hasScheme = (url: string): boolean => /^https?:\/\//.test(url);
const hasPassword = (url: string): boolean => /^https?:\/\/[^/?#]*@/.test(url);
const hostIn = (url: string): string => /^https?:\/\/(\[[^\]/?#]*\]|[^/?#:]*)/.exec(url)?.[1] ?? '';

/** As the URL parser of Go: a host without characters that need an escape, a numeric port, only whole escapes. */
const isComplete = (url: string): boolean =>
  /^https?:\/\/(\[[0-9A-Fa-f:.]+\]|[^/?#:{}|\\^`%]+)(:\d*)?([/?#].*)?$/.test(url) &&
  /^[!-~]+$/.test(url) &&
  !/%(?![0-9A-Fa-f]{2})/.test(url.replace(/\?.*/s, ''));

const isOctets = (host: string): boolean =>
  /^(\d+\.){3}\d+$/.test(host) && host.split('.').every((octet) => Number(octet) <= 255 && !/^0\d/.test(octet));

/** IPv4 169.254.0.0/16, 224.0.0.0/24 and 0.0.0.0; IPv6 fe80::/10, ff02::/16 and ::. */
function isLinkLocal(host: string): boolean {
  if (isOctets(host)) return /^(169\.254\.|224\.0\.0\.|0\.0\.0\.0$)/.test(host);
  if (!host.startsWith('[') || !URL.canParse(`http://${host}`)) return false;
  return /^\[(fe[89ab].:|ff.2:|::\])/.test(new URL(`http://${host}`).hostname);
}

/**
 * Denies what Ironic would refuse, before a host is powered off for it. dataImageHostPolicy checks the BMC of the host;
 * this policy needs no host.
 */
export const dataImagePolicy = (exempt: readonly Identity[]): PolicyDefinition<DataImage> => ({
  name: 'data-image-guards',
  description:
    'The URL of a DataImage must be one that Ironic can and may fetch: http or https, complete, without a password, and not at a link-local address.',
  resource: dataImages,
  operations: ['CREATE', 'UPDATE'],
  exempt,
  variables: [
    { name: 'url', expression: "object.?spec.url.orValue('')" },
    { name: 'host', expression: "isURL(variables.url) ? url(variables.url).getHostname() : ''" },
  ],
  validations: [
    {
      // Only what is never right: the controllers know which addresses are allowed, and what names resolve to.
      expression: `!isIP(variables.host) || !(ip(variables.host).isLinkLocalUnicast() || ip(variables.host).isLinkLocalMulticast() || ip(variables.host).isUnspecified())`,
      message: `spec.url of a DataImage: expected no link-local address, where clouds serve instance metadata and credentials`,
      messageExpression: `${NAMED} + 'expected no link-local address, where clouds serve instance metadata and credentials, found ' + variables.host`,
      field: 'spec.url',
      refuses: refusesUrl(
        (url) => isComplete(url) && isLinkLocal(hostIn(url)),
        (url) =>
          `expected no link-local address, where clouds serve instance metadata and credentials, found ${hostIn(url).replaceAll(/[[\]]/g, '')}`,
      ),
    },
    {
      expression: `size(variables.url) <= ${MAX_URL_CHARS}`,
      message: `spec.url of a DataImage: expected at most ${MAX_URL_CHARS} characters`,
      messageExpression: `${NAMED} + 'expected at most ${MAX_URL_CHARS} characters, found ' + string(size(variables.url))`,
      field: 'spec.url',
      refuses: refusesUrl(
        (url) => url.length > MAX_URL_CHARS,
        (url) => `expected at most ${MAX_URL_CHARS} characters, found ${url.length}`,
      ),
    },
    {
      expression: `size(variables.url) > ${MAX_URL_CHARS} || variables.url.matches('^https?://')`,
      message: `spec.url of a DataImage: expected an http or https URL ${EXAMPLE}; Ironic supports no other scheme`,
      messageExpression: `${NAMED} + 'expected an http or https URL ${EXAMPLE}; Ironic supports no other scheme'`,
      field: 'spec.url',
      refuses: refusesUrl(
        (url) => url.length <= MAX_URL_CHARS && !hasScheme(url),
        () => `expected an http or https URL ${EXAMPLE}; Ironic supports no other scheme`,
      ),
    },
    {
      // No messageExpression: the URL contains the password.
      expression: `!variables.url.matches('^https?://[^/?#]*@')`,
      message: `spec.url of a DataImage: ${NO_PASSWORD}`,
      field: 'spec.url',
      refuses: refusesUrl(hasPassword, () => NO_PASSWORD),
    },
    {
      expression: `!variables.url.matches('^https?://') || variables.url.matches('^https?://[^/?#@]*@') || (isURL(variables.url) && url(variables.url).getHostname() != '' && variables.url.matches('^[!-~]+$'))`,
      message: `spec.url of a DataImage: expected a complete URL with a host, ${EXAMPLE}, and percent-encoding for non-ASCII characters`,
      messageExpression: `${NAMED} + 'expected a complete URL with a host, ${EXAMPLE}, and percent-encoding for non-ASCII characters'`,
      field: 'spec.url',
      refuses: refusesUrl(
        (url) => hasScheme(url) && !hasPassword(url) && !isComplete(url),
        () => `expected a complete URL with a host, ${EXAMPLE}, and percent-encoding for non-ASCII characters`,
      ),
    },
  ],
});

// Denies a DataImage that can never be attached. A policy sees other objects only as parameters: here all hosts of the
// namespace, of which the one with the name of the DataImage matters. If the host does not exist yet, or is not in the
// cache of the API server yet, nothing is denied; the controller then reports the problem in the condition Attached.

const able = [...bmcDrivers].filter(([, { nonBootableISOImage }]) => nonBootableISOImage).map(([name]) => name);
const expected = `expected one of ${able.join(', ')}, optionally with +http or +https`;

export const dataImageHostPolicy = (exempt: readonly Identity[]): PolicyDefinition => ({
  name: 'data-image-host-guards',
  description: 'A DataImage requires a host whose BMC driver can attach an ISO.',
  resource: dataImages,
  // It runs once per host of the namespace, so not on the frequent annotation updates of the controllers.
  operations: ['CREATE'],
  covers: 'everything',
  exempt,
  param: { resource: bareMetalHosts, every: true },
  about: { name: 'for-this-host', expression: 'params.metadata.name == object.metadata.name' },
  variables: [
    { name: 'address', expression: "params.?spec.bmc.address.orValue('')" },
    // Metal3 treats an address without a scheme, with or without a port, as IPMI.
    { name: 'isBare', expression: "variables.address.matches('^[^/:+]*(:[0-9]+)?$')" },
    // Only up to the colon: a malformed address can contain a password after it.
    {
      name: 'driver',
      expression: "variables.isBare ? 'ipmi' : variables.address.find('^[^:]{1,40}').lowerAscii()",
    },
  ],
  validations: [
    {
      // A BMC can be added to a host later.
      expression: `variables.address == '' || (!variables.isBare && variables.address.matches('(?i)^(${able.join('|')})([+]https?)?:'))`,
      message: `the BMC driver of the BareMetalHost with this name (spec.bmc.address) cannot attach an ISO: ${expected}`,
      messageExpression: `'DataImage ' + object.metadata.namespace + '/' + object.metadata.name + ': the BareMetalHost with this name uses the BMC driver "' + variables.driver + '" (spec.bmc.address), which cannot attach an ISO; ${expected}. If its BMC supports Redfish, change the address to one of these drivers and try again'`,
    },
  ],
});

const of = (object: 'object' | 'oldObject'): string => `${object}.metadata.?annotations[?'${DRIVE_MEMORY_ANNOTATION}']`;

/** The controllers write the UID of the object first. */
const RESTORED_MEMORY = '{"of":"';

/**
 * A user who can rewrite it could leave an ISO in a drive, or eject a medium that Slipway did not attach. A new object may
 * have that of an earlier one, as a restored backup has: the controllers ignore it, and no client chooses its UID.
 */
export const dataImageMemoryPolicy = (exempt: readonly Identity[]): PolicyDefinition<DataImage> => ({
  name: 'data-image-memory',
  description: `Only the controllers write the annotation ${DRIVE_MEMORY_ANNOTATION} of a DataImage.`,
  resource: dataImages,
  operations: ['CREATE', 'UPDATE'],
  covers: 'everything',
  exempt,
  validations: [
    {
      expression: `request.operation == 'CREATE' ? ${of('object')}.orValue('${RESTORED_MEMORY}').startsWith('${RESTORED_MEMORY}') : ${of('object')} == ${of('oldObject')}`,
      message: `only the controllers write the annotation ${DRIVE_MEMORY_ANNOTATION} of a DataImage`,
      messageExpression: `'only the controllers write the annotation ${DRIVE_MEMORY_ANNOTATION} of DataImage ' + object.metadata.namespace + '/' + object.metadata.name + ', which records what is in the drive. ' + (request.operation == 'CREATE' ? 'Omit it from a new DataImage' : 'Do not change it')`,
      field: 'metadata.annotations',
      refuses: (image) =>
        (image.metadata.annotations?.[DRIVE_MEMORY_ANNOTATION] ?? RESTORED_MEMORY).startsWith(RESTORED_MEMORY)
          ? undefined
          : `only the controllers write the annotation ${DRIVE_MEMORY_ANNOTATION} of ${nameOf(image)}, which records what is in the drive. Omit it from a new DataImage`,
    },
  ],
});
