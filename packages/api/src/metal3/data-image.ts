import { ageColumn, conditionColumn, type Kind, type ObjectOf, toResource } from '../kind.ts';
import { flag, integer, object, optional, text, timestamp } from '../schema.ts';
import { conditions } from '../shared-fields.ts';

export const METAL3_GROUP = 'metal3.io';

/** What the controller is in the middle of with the drive of a host: of a DataImage. */
export const DRIVE_MEMORY_ANNOTATION = 'slipway.dev/data-image';

const schema = object(
  'A non-bootable ISO in the virtual drive of a bare-metal host. It has the name and namespace of its BareMetalHost, goes in at the next power-on and comes out at the next one after it is deleted.',
  {
    spec: optional(
      object('Which ISO.', {
        url: text('Where the ISO is: an http or https address that the BMC of the host can reach.'),
        immediate: optional(
          flag(
            'Attach at once instead of at the next power-on, where the hardware can. Nobody reboots the host for it either way.',
          ),
        ),
      }),
    ),
    status: optional(
      object('What is in the drive.', {
        attachedImage: optional(
          object('The ISO that is attached, verified with the BMC.', { url: text('Where it came from.') }),
        ),
        lastReconciled: optional(timestamp('When the drive was last looked at.')),
        error: optional(
          object('The last failure to attach or detach. Retried with growing delays.', {
            count: integer('How many times in a row it has failed.'),
            message: text('Why it failed.'),
          }),
        ),
        conditions: optional(
          conditions('Findings about the image: whether it is attached, what it waits for, why the host is held off.'),
        ),
      }),
    ),
  },
);

export type DataImage = ObjectOf<typeof schema>;

export const dataImageKind: Kind<DataImage> = {
  group: METAL3_GROUP,
  kind: 'DataImage',
  plural: 'dataimages',
  shortNames: ['dimg'],
  namespaced: true,
  install: 'compat',
  versions: [
    {
      name: 'v1alpha1',
      schema,
      columns: [
        conditionColumn('Attached', { description: 'Whether the ISO of spec is in the drive.' }),
        { name: 'Image', type: 'string', jsonPath: '.status.attachedImage.url', description: 'The ISO in the drive.' },
        { name: 'Errors', type: 'integer', jsonPath: '.status.error.count', description: 'Failures in a row.' },
        { name: 'URL', type: 'string', jsonPath: '.spec.url', description: 'The ISO of spec.', priority: 1 },
        ageColumn,
      ],
      status: true,
    },
  ],
};

export const dataImages = toResource(dataImageKind, 'v1alpha1');
