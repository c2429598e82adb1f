import { ageColumn, type Kind, type KindVersion, type ObjectOf, toResource } from '../kind.ts';
import { singleton } from '../object-meta.ts';
import { listMap, object, optional, type Rule, staysOnceSet } from '../schema.ts';
import { imageByDigest, subdomain } from '../shared-fields.ts';
import { MACHINE_CONFIGURATION_GROUP } from './names.ts';

const streamName = (description: string) => subdomain(description, { minLength: 1 });

const defaultStream = streamName(
  'The stream for pools that are new and name none. Must be one of status.availableStreams. A change does not touch pools that already have a stream.',
);

const status = object(
  'What the release payload brings.',
  {
    availableStreams: listMap(
      'The streams a pool can follow.',
      object(undefined, {
        name: streamName('Name of the stream, for MachineConfigPool.spec.osImageStream.'),
        osImage: imageByDigest('The OS image, by digest.'),
        osExtensionsImage: imageByDigest('The image with the OS extensions, by digest.'),
      }),
      ['name'],
      { minItems: 1, maxItems: 100 },
    ),
    defaultStream: streamName('The stream in force for pools that are new and name none.'),
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
  'The OS images that machines of this cluster can run, as named streams, and which stream is the default. There is one such object, named cluster.';

const rules: Rule<object>[] = [
  singleton('OSImageStream'),
  {
    // A stream may vanish with an upgrade under a spec that still names it: only a change of spec is judged.
    rule: 'self.spec == oldSelf.spec || !has(self.status) || !has(self.spec.defaultStream) || self.status.availableStreams.exists(s, s.name == self.spec.defaultStream)',
    message: 'spec.defaultStream must be the name of one of status.availableStreams',
    fieldPath: '.spec.defaultStream',
  },
];

const schema = object(
  DESCRIPTION,
  { spec: object('Which stream is the default.', { defaultStream }), status: optional(status) },
  { rules },
);

const alphaSchema = object(
  DESCRIPTION,
  {
    spec: object(
      'Which stream is the default. Left empty, the controller decides.',
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
    { name: 'Default', type: 'string', jsonPath: '.status.defaultStream', description: 'The stream in force.' },
    {
      name: 'Requested',
      type: 'string',
      jsonPath: '.spec.defaultStream',
      description: 'The stream that spec asks for.',
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
