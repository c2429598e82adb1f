import { ageColumn, type Kind, type KindVersion, type ObjectOf, toResource } from '../kind.ts';
import { singleton } from '../object-meta.ts';
import { listMap, object, optional, type Rule, staysOnceSet } from '../schema.ts';
import { imageByDigest, subdomain } from '../shared-fields.ts';
import { MACHINE_CONFIGURATION_GROUP } from './names.ts';

const streamName = (description: string) => subdomain(description, { minLength: 1 });

const defaultStream = streamName(
  'Default stream for new pools that set none. Must be one of status.availableStreams. Changing it does not affect pools that already have a stream.',
);

const status = object(
  'Streams that the release payload provides.',
  {
    availableStreams: listMap(
      'Streams that a pool can use.',
      object(undefined, {
        name: streamName('Name of the stream, for spec.osImageStream.name of a MachineConfigPool.'),
        osImage: imageByDigest('OS image, by digest.'),
        osExtensionsImage: imageByDigest('OS extensions image, by digest.'),
      }),
      ['name'],
      { minItems: 1, maxItems: 100 },
    ),
    defaultStream: streamName('Default stream in effect for new pools that set none.'),
  },
  {
    rules: [
      {
        rule: 'self.availableStreams.exists(s, s.name == self.defaultStream)',
        message: 'defaultStream must be the name of one of availableStreams',
        fieldPath: '.defaultStream',
        holds: (self) => self.availableStreams.some(({ name }) => name === self.defaultStream),
      },
    ],
  },
);

const DESCRIPTION =
  'The OS images that machines of this cluster can run, as named streams, and the default stream. There is one OSImageStream, named cluster.';

const rules: Rule<object>[] = [
  singleton('OSImageStream'),
  {
    // An upgrade can remove a stream that the spec still names, so only changes of the spec are validated.
    rule: 'self.spec == oldSelf.spec || !has(self.status) || !has(self.spec.defaultStream) || self.status.availableStreams.exists(s, s.name == self.spec.defaultStream)',
    message: 'spec.defaultStream must be the name of one of status.availableStreams',
    fieldPath: '.spec.defaultStream',
  },
];

const schema = object(
  DESCRIPTION,
  { spec: object('Desired default stream.', { defaultStream }), status: optional(status) },
  { rules },
);

const alphaSchema = object(
  DESCRIPTION,
  {
    spec: object(
      'Desired default stream. If omitted, the controller chooses it.',
      { defaultStream: optional(defaultStream) },
      { rules: [staysOnceSet('defaultStream')] },
    ),
    status: optional(status),
  },
  { rules },
);

export type OSImageStream = ObjectOf<typeof schema>;

const version = (name: string, schema: KindVersion['schema']): KindVersion => ({
  name,
  schema,
  columns: [
    { name: 'Default', type: 'string', jsonPath: '.status.defaultStream', description: 'Default stream in effect.' },
    {
      name: 'Requested',
      type: 'string',
      jsonPath: '.spec.defaultStream',
      description: 'Default stream requested in spec.',
      priority: 1,
    },
    ageColumn,
  ],
  status: true,
});

export const osImageStreamKind: Kind<OSImageStream> = {
  group: MACHINE_CONFIGURATION_GROUP,
  kind: 'OSImageStream',
  plural: 'osimagestreams',
  shortNames: ['osis'],
  namespaced: false,
  install: 'own',
  versions: [version('v1alpha1', alphaSchema), version('v1', schema)],
};

export const osImageStreams = toResource(osImageStreamKind, 'v1');
