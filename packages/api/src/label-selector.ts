import { atomicList, object, optional, stringMap, text } from './schema.ts';

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
