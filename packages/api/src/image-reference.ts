import { text } from './schema.ts';

const host = '([a-zA-Z0-9-]+\\.)+[a-zA-Z0-9-]+';
const rest = '(:[0-9]{2,5})?/([a-zA-Z0-9-_]{0,61}/)?[a-zA-Z0-9-_.]*$';
const digest = '^sha256:[a-f0-9]{64}$';

export interface ImageReferenceOptions {
  /** Also takes an image on the machine's own registry. */
  localhost?: boolean;
}

/** A container image by digest: host[:port][/namespace]/name@sha256:digest. */
export function imageByDigest(description: string, { localhost = false }: ImageReferenceOptions = {}) {
  const name = localhost ? `^(localhost|${host})${rest}` : `^${host}${rest}`;
  const namePattern = new RegExp(name);
  const digestPattern = new RegExp(digest);
  return text(description, {
    minLength: 1,
    maxLength: 447,
    rules: [
      {
        rule: `self.split('@').size() == 2 && self.split('@')[1].matches('${digest}')`,
        message:
          "must name the image by digest: it must end with '@sha256:' and 64 lower case hexadecimal digits, not with a tag",
        holds: (self) => self.split('@').length === 2 && digestPattern.test(self.split('@')[1] ?? ''),
      },
      {
        rule: `self.split('@')[0].matches('${name.replaceAll('\\', '\\\\')}')`,
        message: `must begin with host[:port][/namespace]/name and no scheme; the host must be ${localhost ? "'localhost' or " : ''}a full domain name, as in registry.example.com/team/image`,
        holds: (self) => namePattern.test(self.split('@')[0] ?? ''),
      },
    ],
  });
}
