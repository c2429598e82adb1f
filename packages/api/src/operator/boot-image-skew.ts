import { choice, matching, unionMember, object, optional, text } from '../schema.ts';

const ocpVersion = text('Version of the cluster that the boot image came with, as x.y.z.', {
  minLength: 5,
  maxLength: 10,
  rules: [matching('^[0-9]+\\.[0-9]+\\.[0-9]+$', 'must be a version of the form x.y.z, such as 4.18.2')],
});

const rhcosVersion = text('Version of the boot image itself, such as 9.6.20250826-1.', {
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
  'The oldest boot image in use, as a person has recorded it. For mode Manual.',
  {
    mode: choice(['OCPVersion', 'RHCOSVersion'], 'Which of the two versions is recorded.'),
    ocpVersion: optional(ocpVersion),
    rhcosVersion: optional(rhcosVersion),
  },
  { rules: [unionMember('mode', 'OCPVersion', 'ocpVersion'), unionMember('mode', 'RHCOSVersion', 'rhcosVersion')] },
);

export const bootImageSkewEnforcement = object(
  'How it is made sure that no machine boots an image too old for the cluster. Left out, it is done automatically where boot images are managed.',
  {
    mode: choice(
      ['Manual', 'None'],
      'Manual: a person records the oldest boot image and keeps it current. None: no check; new machines may fail to join after upgrades.',
    ),
    manual: optional(manual),
  },
  { rules: [unionMember('mode', 'Manual', 'manual')] },
);

export const bootImageSkewEnforcementStatus = object(
  'The check in force, and the oldest boot image in use. Too old, it stops upgrades of the cluster.',
  {
    mode: choice(
      ['Automatic', 'Manual', 'None'],
      'Who records the oldest boot image: the controller, a person, or nobody.',
    ),
    automatic: optional(
      object(
        'The oldest boot image in use, as the controller found it. For mode Automatic.',
        { ocpVersion: optional(ocpVersion), rhcosVersion: optional(rhcosVersion) },
        {
          minProperties: 1,
          rules: [
            {
              rule: 'has(self.ocpVersion) || has(self.rhcosVersion)',
              message: 'one of ocpVersion and rhcosVersion is required',
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
