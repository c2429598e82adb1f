// A DataImage that nothing can come of is refused at the door. A policy sees other objects as its parameters: here every
// host of the namespace, of which the one with the name of the DataImage counts. A host that is not there yet, or that the
// API server has not heard of yet, refuses nothing: then the controller says it in the condition Attached.
import type { Identity } from '../identity.ts';
import type { PolicyDefinition } from '../policy.ts';
import { bareMetalHosts } from './bare-metal-host.ts';
import { bmcDrivers } from './bmc-drivers.ts';
import { dataImages } from './data-image.ts';

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
