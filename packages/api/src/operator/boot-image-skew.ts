import { choice, matching, unionMember, object, optional, text } from '../schema.ts';

const ocpVersion = text('Cluster version that shipped the boot image, as x.y.z.', {
  minLength: 5,
  maxLength: 10,
  rules: [matching('^[0-9]+\\.[0-9]+\\.[0-9]+$', 'must be a version of the form x.y.z, such as 4.18.2')],
});

const rhcosVersion = text('Version of the boot image, such as 9.6.20250826-1.', {
  minLength: 14,
  maxLength: 21,
  rules: [
    matching(
      '^[0-9]+\\.[0-9]+\\.([0-9]{8}|[0-9]{12})-[0-9]+$',
      'must be <major>.<minor>.<date as YYYYMMDD or YYYYMMDDHHmm>-<build>, such as 9.6.20250826-1',
    ),
  ],
});

const manual = object(
  'Oldest boot image in use, as recorded by an administrator. For mode Manual.',
  {
    mode: choice(['OCPVersion', 'RHCOSVersion'], 'Which version is recorded: ocpVersion or rhcosVersion.'),
    ocpVersion: optional(ocpVersion),
    rhcosVersion: optional(rhcosVersion),
  },
  { rules: [unionMember('mode', 'OCPVersion', 'ocpVersion'), unionMember('mode', 'RHCOSVersion', 'rhcosVersion')] },
);

export const bootImageSkewEnforcement = object(
  'Prevents cluster upgrades while machines boot an image that is too old for the cluster. If omitted, the check is automatic where boot images are managed.',
  {
    mode: choice(
      ['Manual', 'None'],
      'Manual: an administrator records the oldest boot image and keeps the record current. None: no check; new machines may fail to join after upgrades.',
    ),
    manual: optional(manual),
  },
  { rules: [unionMember('mode', 'Manual', 'manual')] },
);

export const bootImageSkewEnforcementStatus = object(
  'The check in effect and the oldest boot image in use. A boot image that is too old blocks cluster upgrades.',
  {
    mode: choice(
      ['Automatic', 'Manual', 'None'],
      'Who records the oldest boot image. Automatic: the controller. Manual: an administrator. None: it is not recorded.',
    ),
    automatic: optional(
      object(
        'Oldest boot image in use, as observed by the controller. For mode Automatic.',
        { ocpVersion: optional(ocpVersion), rhcosVersion: optional(rhcosVersion) },
        {
          minProperties: 1,
          rules: [
            {
              rule: 'has(self.ocpVersion) || has(self.rhcosVersion)',
              message: 'ocpVersion or rhcosVersion is required',
              holds: (self) => self.ocpVersion !== undefined || self.rhcosVersion !== undefined,
            },
          ],
        },
      ),
    ),
    manual: optional(manual),
  },
  { rules: [unionMember('mode', 'Automatic', 'automatic'), unionMember('mode', 'Manual', 'manual')] },
);
