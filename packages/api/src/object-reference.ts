import { object, optional, text } from './schema.ts';

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
