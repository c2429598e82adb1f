import { atomicList, choice, listMap, object, optional, text } from '../schema.ts';

const description = 'Addresses to use for services of the cloud instead of its own.';

export const awsServiceEndpoints = optional(
  atomicList(
    description,
    object(undefined, {
      name: optional(text('Name of the service.', { pattern: '^[a-z0-9-]+$' })),
      url: optional(text('Its address, with https.', { pattern: '^https://' })),
    }),
  ),
);

const ibmServices = [
  'CIS',
  'COS',
  'COSConfig',
  'DNSServices',
  'GlobalCatalog',
  'GlobalSearch',
  'GlobalTagging',
  'HyperProtect',
  'IAM',
  'KeyProtect',
  'ResourceController',
  'ResourceManager',
  'VPC',
] as const;

export const ibmCloudServiceEndpoints = optional(
  listMap(
    description,
    object(undefined, {
      name: choice(ibmServices, 'Name of the service.'),
      url: text('Its address.', {
        maxLength: 300,
        rules: [{ rule: 'isURL(self)', message: 'must be an absolute URL' }],
      }),
    }),
    ['name'],
  ),
);

export const powerVsServiceEndpoints = optional(
  listMap(
    description,
    object(undefined, {
      name: choice([...ibmServices, 'Power'], 'Name of the service.'),
      url: text('Its address, with https.', { format: 'uri', pattern: '^https://' }),
    }),
    ['name'],
  ),
);
