import { atomicList, choice, int32, listMap, memberOf, object, optional, text } from '../schema.ts';

const identifier = (description?: string) =>
  object(
    description,
    {
      type: choice(['UUID', 'Name'], 'Whether it is known by UUID or by name.'),
      uuid: optional(text('The UUID.')),
      name: optional(text('The name.')),
    },
    { rules: [memberOf('type', 'UUID', 'uuid'), memberOf('type', 'Name', 'name')] },
  );

const endpoint = (description: string) =>
  object(description, {
    address: text('DNS name or IP address.', { maxLength: 256 }),
    port: int32('Port.', { minimum: 1, maximum: 65_535 }),
  });

export const nutanixPlatformSpec = object('Settings for Nutanix.', {
  prismCentral: endpoint('The Prism Central.'),
  prismElements: listMap(
    'The Prism Elements, one for each Nutanix cluster.',
    object(undefined, {
      name: text('Name of the Prism Element.', { maxLength: 256 }),
      endpoint: endpoint('Where it is.'),
    }),
    ['name'],
  ),
  failureDomains: optional(
    listMap(
      'Where machines can be, so that one failure does not take all.',
      object(undefined, {
        name: text('Name of the failure domain.', {
          minLength: 1,
          maxLength: 64,
          pattern: '[a-z0-9]([-a-z0-9]*[a-z0-9])?',
        }),
        cluster: identifier('The Nutanix cluster.'),
        subnets: atomicList('The subnets.', identifier(), { minItems: 1, maxItems: 1 }),
      }),
      ['name'],
    ),
  ),
});
