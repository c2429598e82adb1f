// Fields that several kinds share, in the form that Kubernetes uses.
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

/** An optional prefix (a lower-case DNS subdomain and a slash), then the name. */
export const qualifiedName = {
  pattern:
    '^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$',
  expected:
    'be a name of letters, digits, "-", "_" and ".", with a letter or digit at both ends, optionally after a lower-case domain and "/", as in example.com/name',
};

const condition = object(undefined, {
  type: text('Type of the condition, such as Degraded.', { maxLength: 316, ...qualifiedName }),
  status: choice(['True', 'False', 'Unknown'], 'Status of the condition: True, False or Unknown.'),
  reason: text('Machine-readable reason, one CamelCase word.', {
    minLength: 1,
    maxLength: 1024,
    pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$',
    expected:
      'consist of letters, digits, "_", "," and ":", start with a letter, and end with a letter, a digit or "_"',
  }),
  message: text('Human-readable explanation.', { maxLength: 32_768 }),
  lastTransitionTime: timestamp('When the status last changed.'),
  observedGeneration: optional(
    int64(
      'The metadata.generation that the condition reflects. If it is older than the object, the condition is out of date.',
      {
        minimum: 0,
      },
    ),
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
          "must be a valid object name: lower case letters, digits, '-' and '.', starting and ending with a letter or digit",
        holds: (self) => subdomainPattern.test(self),
      },
    ],
  });

const HOST = '([a-zA-Z0-9-]+\\.)+[a-zA-Z0-9-]+';
// The platform's CRDs accept one namespace at most: `([a-zA-Z0-9-_]{0,61}/)?`. Mirrors often have more.
const REST = '(:[0-9]{2,5})?/([a-zA-Z0-9-_]{0,61}/)?([a-zA-Z0-9-_.]+/)*[a-zA-Z0-9-_.]*';
const DIGEST = 'sha256:[a-f0-9]{64}';
const MAX_IMAGE_LENGTH = 447;

interface ImageReferenceOptions {
  /** Also accepts an image in the local registry of the machine. */
  localhost?: boolean;
}

/** A container image by digest: host[:port][/namespace…]/name@sha256:digest. */
export function imageByDigest(description: string, { localhost = false }: ImageReferenceOptions = {}) {
  const name = localhost ? `^(localhost|${HOST})${REST}$` : `^${HOST}${REST}$`;
  const namePattern = new RegExp(name);
  const digestPattern = new RegExp(`^${DIGEST}$`);
  return text(description, {
    minLength: 1,
    maxLength: MAX_IMAGE_LENGTH,
    rules: [
      {
        rule: `self.split('@').size() == 2 && self.split('@')[1].matches('^${DIGEST}$')`,
        message:
          "must name the image by digest: it must end with '@sha256:' and 64 lower case hexadecimal digits, not with a tag",
        holds: (self) => self.split('@').length === 2 && digestPattern.test(self.split('@')[1] ?? ''),
      },
      {
        rule: `self.split('@')[0].matches('${name.replaceAll('\\', '\\\\')}')`,
        message: `must start with host[:port][/namespace…]/name and no scheme; the host must be ${localhost ? "'localhost' or " : ''}a full domain name, as in registry.example.com/team/image`,
        holds: (self) => namePattern.test(self.split('@')[0] ?? ''),
      },
    ],
  });
}

const byDigestPattern = new RegExp(`^${HOST}${REST}@${DIGEST}$`);

/** Whether the API accepts it as an image by digest. */
export const isImageByDigest = (reference: string): boolean =>
  reference.length <= MAX_IMAGE_LENGTH && byDigestPattern.test(reference);

export const labelSelector = (description: string) =>
  object(
    description,
    {
      matchLabels: optional(stringMap('Labels that an object must have, with exactly these values.')),
      matchExpressions: optional(
        atomicList(
          'Additional requirements on labels. All must be met.',
          object(undefined, {
            key: text('Label that the requirement applies to.'),
            operator: text('Relation between the label and the values: In, NotIn, Exists or DoesNotExist.'),
            values: optional(atomicList('Values for In and NotIn. Must be empty for Exists and DoesNotExist.', text())),
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
  resourceVersion: optional(text('The resourceVersion of the object that this reference was made for.')),
  fieldPath: optional(text('Part of the object that is referenced. Empty for the whole object.')),
};

export const objectReference = (description?: string) => object(description, objectReferenceFields, { atomic: true });

export const secretReference = (description: string) =>
  object(
    description,
    {
      name: optional(text('Name of the Secret.')),
      namespace: optional(text('Namespace of the Secret.')),
    },
    { atomic: true },
  );

export const taint = object(undefined, {
  key: text('Name of the taint.'),
  value: optional(text('Value of the taint.')),
  effect: text('What happens to pods that do not tolerate it: NoSchedule, PreferNoSchedule or NoExecute.'),
  timeAdded: optional(timestamp('When the taint was added.')),
});
