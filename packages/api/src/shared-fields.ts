// Fields that several kinds have, in the form that Kubernetes itself uses.
import {
  atomicList,
  choice,
  int64,
  listMap,
  type ListOptions,
  object,
  optional,
  stringMap,
  text,
  type TextOptions,
  timestamp,
} from './schema.ts';

// One or more lower-case DNS labels and a slash may come before the name proper.
export const QUALIFIED_NAME_PATTERN =
  '^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$';

/** A finding about an object. */
const condition = object(undefined, {
  type: text('What the condition is about, such as Degraded.', { maxLength: 316, pattern: QUALIFIED_NAME_PATTERN }),
  status: choice(['True', 'False', 'Unknown'], 'Whether the condition holds: True, False or Unknown.'),
  reason: text('Why, in one CamelCase word that programs may rely on.', {
    minLength: 1,
    maxLength: 1024,
    pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$',
  }),
  message: text('Why, in a sentence for people.', { maxLength: 32_768 }),
  lastTransitionTime: timestamp('When the status last changed.'),
  observedGeneration: optional(
    int64('The metadata.generation that the condition was derived from. Older than the object: not yet re-evaluated.', {
      minimum: 0,
    }),
  ),
});

export const conditions = (description: string, options: ListOptions<typeof condition> = {}) =>
  listMap(description, condition, ['type'], options);

const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const subdomainPattern = new RegExp(`^${LABEL}(\\.${LABEL})*$`);

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

const HOST = '([a-zA-Z0-9-]+\\.)+[a-zA-Z0-9-]+';
const REST = '(:[0-9]{2,5})?/([a-zA-Z0-9-_]{0,61}/)?[a-zA-Z0-9-_.]*$';
const DIGEST = '^sha256:[a-f0-9]{64}$';

interface ImageReferenceOptions {
  /** Also takes an image on the machine's own registry. */
  localhost?: boolean;
}

/** A container image by digest: host[:port][/namespace]/name@sha256:digest. */
export function imageByDigest(description: string, { localhost = false }: ImageReferenceOptions = {}) {
  const name = localhost ? `^(localhost|${HOST})${REST}` : `^${HOST}${REST}`;
  const namePattern = new RegExp(name);
  const digestPattern = new RegExp(DIGEST);
  return text(description, {
    minLength: 1,
    maxLength: 447,
    rules: [
      {
        rule: `self.split('@').size() == 2 && self.split('@')[1].matches('${DIGEST}')`,
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

/** Selects objects by their labels. */
export const labelSelector = (description: string) =>
  object(
    description,
    {
      matchLabels: optional(stringMap('Labels an object must have, each with exactly this value.')),
      matchExpressions: optional(
        atomicList(
          'Further conditions on labels. All of them must hold.',
          object(undefined, {
            key: text('The label the condition is about.'),
            operator: text('How the label relates to the values: In, NotIn, Exists or DoesNotExist.'),
            values: optional(
              atomicList('The values for In and NotIn. Must be empty for Exists and DoesNotExist.', text()),
            ),
          }),
        ),
      ),
    },
    { atomic: true },
  );

export const objectReferenceFields = {
  apiVersion: optional(text('API group and version of the object.')),
  kind: optional(text('Kind of the object.')),
  name: optional(text('Name of the object.')),
  namespace: optional(text('Namespace of the object.')),
  uid: optional(text('UID of the object.')),
  resourceVersion: optional(text('Version of the object that was looked at.')),
  fieldPath: optional(text('The part of the object that is meant, if not the whole.')),
};

/** Points at one object, of whatever kind. */
export const objectReference = (description?: string) => object(description, objectReferenceFields, { atomic: true });

/** Points at a Secret. */
export const secretReference = (description: string) =>
  object(
    description,
    {
      name: optional(text('Name of the Secret.')),
      namespace: optional(text('Namespace of the Secret.')),
    },
    { atomic: true },
  );

/** Keeps pods without a matching toleration off a node. */
export const taint = object(undefined, {
  key: text('Name of the taint.'),
  value: optional(text('Value of the taint.')),
  effect: text('What happens to pods that do not tolerate it: NoSchedule, PreferNoSchedule or NoExecute.'),
  timeAdded: optional(timestamp('When the taint was added.')),
});
