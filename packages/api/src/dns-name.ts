import { text, type TextOptions } from './schema.ts';

const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const subdomainPattern = new RegExp(`^${label}(\\.${label})*$`);

/** The name of a Kubernetes object: an RFC 1123 subdomain. */
export const subdomain = (description: string, options: TextOptions = {}) =>
  text(description, {
    maxLength: 253,
    ...options,
    rules: [
      {
        rule: '!format.dns1123Subdomain().validate(self).hasValue()',
        message:
          "must be a valid object name: lower case letters, digits, '-' and '.', beginning and ending with a letter or digit",
        holds: (self) => subdomainPattern.test(self),
      },
    ],
  });
