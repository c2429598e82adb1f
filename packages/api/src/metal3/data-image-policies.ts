// Who may write what into a DataImage.
import type { Identity } from '../identity.ts';
import type { PolicyDefinition } from '../policy.ts';
import { bareMetalHosts } from './bare-metal-host.ts';
import { bmcDrivers } from './bmc-drivers.ts';
import { dataImages, DRIVE_MEMORY_ANNOTATION } from './data-image.ts';

const MAX_URL_CHARS = 2048;
const EXAMPLE = 'such as https://isos.example.com/worker-0.iso';

const NAMED = "'DataImage ' + object.metadata.namespace + '/' + object.metadata.name + ', spec.url: '";

/**
 * What Ironic would refuse is refused at the door, before a host is switched off for it. Whether the BMC of the host can take
 * an ISO is another policy's matter (dataImageHostPolicy): this one needs no host.
 */
export const dataImagePolicy = (exempt: readonly Identity[]): PolicyDefinition => ({
  name: 'data-image-guards',
  description: 'A DataImage has a URL that Ironic can fetch an ISO from: http or https, whole, and without a password.',
  resource: dataImages,
  operations: ['CREATE', 'UPDATE'],
  exempt,
  variables: [{ name: 'url', expression: "object.?spec.url.orValue('')" }],
  validations: [
    {
      expression: `size(variables.url) <= ${MAX_URL_CHARS}`,
      message: `spec.url of a DataImage: expected at most ${MAX_URL_CHARS} characters`,
      messageExpression: `${NAMED} + 'expected at most ${MAX_URL_CHARS} characters, found ' + string(size(variables.url))`,
    },
    {
      expression: `size(variables.url) > ${MAX_URL_CHARS} || variables.url.matches('^https?://')`,
      message: `spec.url of a DataImage: expected an http or https address, for Ironic fetches from no other, ${EXAMPLE}`,
      messageExpression: `${NAMED} + 'expected an http or https address, for Ironic fetches from no other, ${EXAMPLE}'`,
    },
    {
      // Not shown: it has the password in it.
      expression: `!variables.url.matches('^https?://[^/?#]*@')`,
      message:
        'spec.url of a DataImage: expected no user name or password in it, for everybody who sees the object sees them. Serve the ISO to the addresses of the BMCs and of Ironic alone, or at a path that nobody can guess',
    },
    {
      expression: `!variables.url.matches('^https?://') || variables.url.matches('^https?://[^/?#@]*@') || (isURL(variables.url) && url(variables.url).getHostname() != '' && variables.url.matches('^[!-~]+$'))`,
      message: `spec.url of a DataImage: expected a whole URL with a host, and everything outside of ASCII percent-encoded, ${EXAMPLE}`,
      messageExpression: `${NAMED} + 'expected a whole URL with a host, and everything outside of ASCII percent-encoded, ${EXAMPLE}'`,
    },
  ],
});

// A DataImage that nothing can come of is refused at the door. A policy sees other objects as its parameters: here every
// host of the namespace, of which the one with the name of the DataImage counts. A host that is not there yet, or that the
// API server has not heard of yet, refuses nothing: then the controller says it in the condition Attached.

const able = [...bmcDrivers].filter(([, { nonBootableISOImage }]) => nonBootableISOImage).map(([name]) => name);
const expected = `expected one of ${able.join(', ')}, each also with +http or +https`;

export const dataImageHostPolicy = (exempt: readonly Identity[]): PolicyDefinition => ({
  name: 'data-image-host-guards',
  description: 'A DataImage is for a host whose BMC driver can attach an ISO.',
  resource: dataImages,
  // It runs once for each host of the namespace, so not with every step that the controllers remember in an annotation.
  operations: ['CREATE'],
  covers: 'everything',
  exempt,
  param: { resource: bareMetalHosts, every: true },
  about: { name: 'for-this-host', expression: 'params.metadata.name == object.metadata.name' },
  variables: [
    { name: 'address', expression: "params.?spec.bmc.address.orValue('')" },
    // An address alone, or with a port, has always meant IPMI.
    { name: 'isBare', expression: "variables.address.matches('^[^/:+]*(:[0-9]+)?$')" },
    // Up to the colon: what follows may have a password in it, where people err.
    {
      name: 'driver',
      expression: "variables.isBare ? 'ipmi' : variables.address.find('^[^:]{1,40}').lowerAscii()",
    },
  ],
  validations: [
    {
      // A host without a BMC may get one.
      expression: `variables.address == '' || (!variables.isBare && variables.address.matches('(?i)^(${able.join('|')})([+]https?)?:'))`,
      message: `the driver in spec.bmc.address of the BareMetalHost of this name cannot attach an ISO: ${expected}`,
      messageExpression: `'DataImage ' + object.metadata.namespace + '/' + object.metadata.name + ': the BareMetalHost of this name has the driver "' + variables.driver + '" in spec.bmc.address, which cannot attach an ISO; ${expected}. If its BMC speaks Redfish, write the address of the host with one of these, then try again'`,
    },
  ],
});

const of = (object: 'object' | 'oldObject'): string => `${object}.metadata.?annotations[?'${DRIVE_MEMORY_ANNOTATION}']`;

/** Who could rewrite it could have an ISO forgotten in a drive, or a medium of somebody else ejected. */
export const dataImageMemoryPolicy = (exempt: readonly Identity[]): PolicyDefinition => ({
  name: 'data-image-memory',
  description: `The annotation ${DRIVE_MEMORY_ANNOTATION} of a DataImage is written by the controllers alone.`,
  resource: dataImages,
  operations: ['CREATE', 'UPDATE'],
  covers: 'everything',
  exempt,
  validations: [
    {
      expression: `${of('object')} == (request.operation == 'CREATE' ? optional.none() : ${of('oldObject')})`,
      message: `the annotation ${DRIVE_MEMORY_ANNOTATION} of a DataImage is written by the controllers alone`,
      messageExpression: `'of DataImage ' + object.metadata.namespace + '/' + object.metadata.name + ' the annotation ${DRIVE_MEMORY_ANNOTATION} is written by the controllers alone, which remember by it what is in the drive: leave it ' + (request.operation == 'CREATE' ? 'out of a new DataImage' : 'as it is')`,
    },
  ],
});
