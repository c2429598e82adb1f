import { matching, text } from '../schema.ts';

const types = [
  'service',
  'socket',
  'device',
  'mount',
  'automount',
  'swap',
  'target',
  'path',
  'timer',
  'snapshot',
  'slice',
  'scope',
];

/** The full name of a systemd unit, such as crio.service. */
export const systemdUnitName = (description: string) =>
  text(description, {
    maxLength: 255,
    rules: [
      matching(
        `\\.(${types.join('|')})$`,
        `must be a whole unit name such as crio.service: it must end with one of ${types.map((type) => `.${type}`).join(', ')}`,
      ),
      matching(
        '^[a-zA-Z0-9:._\\\\-]+\\..',
        "must have a name before the unit type, made of letters, digits, ':', '-', '_', '.' and '\\'",
      ),
    ],
  });
