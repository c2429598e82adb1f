import { choice, int64, listMap, object, optional, text, timestamp, type ListOptions } from './schema.ts';

// One or more lower-case DNS labels and a slash may come before the name proper.
export const qualifiedNamePattern =
  '^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$';

/** A finding about an object, in the form that Kubernetes itself uses. */
const condition = object(undefined, {
  type: text('What the condition is about, such as Degraded.', { maxLength: 316, pattern: qualifiedNamePattern }),
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
