import { ageColumn, type Kind, type KindVersion, type ObjectOf, toResource } from '../kind.ts';
import { listMap, object } from '../schema.ts';
import { imageByDigest } from '../shared-fields.ts';
import { MACHINE_CONFIGURATION_GROUP } from './names.ts';

const schema = object(
  'Container images that machines pull in advance and exclude from image garbage collection. The label machineconfiguration.openshift.io/role selects the pools.',
  {
    spec: object('Desired images.', {
      pinnedImages: listMap(
        'Images to pin. They are pinned only after all of them have been pulled. For more than 500 images, use several sets.',
        object(undefined, {
          name: imageByDigest('Image by digest: registry.example.com[:port][/namespace…]/name@sha256:digest.'),
        }),
        ['name'],
        { minItems: 1, maxItems: 500 },
      ),
    }),
  },
);

export type PinnedImageSet = ObjectOf<typeof schema>;

const version = (name: string): KindVersion => ({
  name,
  schema,
  columns: [
    {
      name: 'Role',
      type: 'string',
      jsonPath: '.metadata.labels.machineconfiguration\\.openshift\\.io/role',
      description: 'Role of the pools that pin the images.',
    },
    ageColumn,
  ],
});

export const pinnedImageSetKind: Kind<PinnedImageSet> = {
  group: MACHINE_CONFIGURATION_GROUP,
  kind: 'PinnedImageSet',
  plural: 'pinnedimagesets',
  shortNames: ['pis'],
  namespaced: false,
  install: 'own',
  versions: [version('v1'), version('v1alpha1')],
};

export const pinnedImageSets = toResource(pinnedImageSetKind, 'v1');
