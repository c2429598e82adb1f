import { ageColumn, conditionColumn, type Kind, type ObjectOf, toResource } from '../kind.ts';
import { flag, integer, object, optional, text, timestamp } from '../schema.ts';
import { conditions } from '../shared-fields.ts';

export const METAL3_GROUP = 'metal3.io';

/** On a DataImage: the operation in progress on the virtual drive of its host. */
export const DRIVE_MEMORY_ANNOTATION = 'slipway.dev/data-image';

const schema = object(
  'A non-bootable ISO in the virtual drive of a bare-metal host. It has the same name and namespace as its BareMetalHost. The ISO is attached at the next power-on. After the DataImage is deleted, the ISO is detached at the next power-on.',
  {
    spec: optional(
      object('Desired ISO.', {
        url: text('URL of the ISO: http or https, reachable from the BMC of the host.'),
        immediate: optional(
          flag(
            'Attaches the ISO immediately instead of at the next power-on, if the hardware supports it. The host is never rebooted for it.',
          ),
        ),
      }),
    ),
    status: optional(
      object('Observed state of the drive.', {
        attachedImage: optional(
          object('ISO that is attached, as verified with the BMC.', { url: text('URL of the ISO.') }),
        ),
        lastReconciled: optional(timestamp('When the drive was last checked.')),
        error: optional(
          object('Last failure to attach or detach. Retried with backoff.', {
            count: integer('Number of consecutive failures.'),
            message: text('Human-readable explanation of the failure.'),
          }),
        ),
        conditions: optional(
          conditions(
            'Conditions of the image: whether it is attached, what it waits for, why the host is kept powered off.',
          ),
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
        conditionColumn('Attached', { description: 'Whether the desired ISO is attached.' }),
        { name: 'Image', type: 'string', jsonPath: '.status.attachedImage.url', description: 'ISO that is attached.' },
        {
          name: 'Errors',
          type: 'integer',
          jsonPath: '.status.error.count',
          description: 'Number of consecutive failures.',
        },
        { name: 'URL', type: 'string', jsonPath: '.spec.url', description: 'Desired ISO.', priority: 1 },
        ageColumn,
      ],
      status: true,
    },
  ],
};

export const dataImages = toResource(dataImageKind, 'v1alpha1');
