// What Ironic would refuse is refused at the door, before a host is switched off for it. Whether the BMC of the host can take
// an ISO is another policy's matter (data-image-host-policy.ts): this one needs no host.
import type { Identity } from '../identity.ts';
import type { PolicyDefinition } from '../policy.ts';
import { dataImages } from './data-image.ts';

const LONGEST_URL = 2048;
const example = 'such as https://isos.example.com/worker-0.iso';

const named = "'DataImage ' + object.metadata.namespace + '/' + object.metadata.name + ', spec.url: '";

export const dataImagePolicy = (exempt: readonly Identity[]): PolicyDefinition => ({
  name: 'data-image-guards',
  description: 'A DataImage has a URL that Ironic can fetch an ISO from: http or https, whole, and without a password.',
  resource: dataImages,
  operations: ['CREATE', 'UPDATE'],
  exempt,
  variables: [{ name: 'url', expression: "object.?spec.url.orValue('')" }],
  validations: [
    {
      expression: `size(variables.url) <= ${LONGEST_URL}`,
      message: `spec.url of a DataImage: expected at most ${LONGEST_URL} characters`,
      messageExpression: `${named} + 'expected at most ${LONGEST_URL} characters, found ' + string(size(variables.url))`,
    },
    {
      expression: `size(variables.url) > ${LONGEST_URL} || variables.url.matches('^https?://')`,
      message: `spec.url of a DataImage: expected an http or https address, for Ironic fetches from no other, ${example}`,
      messageExpression: `${named} + 'expected an http or https address, for Ironic fetches from no other, ${example}'`,
    },
    {
      // Not shown: it has the password in it.
      expression: `!variables.url.matches('^https?://[^/?#]*@')`,
      message:
        'spec.url of a DataImage: expected no user name or password in it, for everybody who sees the object sees them. Serve the ISO to the addresses of the BMCs and of Ironic alone, or at a path that nobody can guess',
    },
    {
      expression: `!variables.url.matches('^https?://') || variables.url.matches('^https?://[^/?#@]*@') || (isURL(variables.url) && url(variables.url).getHostname() != '' && variables.url.matches('^[!-~]+$'))`,
      message: `spec.url of a DataImage: expected a whole URL with a host, and everything outside of ASCII percent-encoded, ${example}`,
      messageExpression: `${named} + 'expected a whole URL with a host, and everything outside of ASCII percent-encoded, ${example}'`,
    },
  ],
});
