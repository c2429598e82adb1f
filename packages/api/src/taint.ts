import { object, optional, text, timestamp } from './schema.ts';

/** Keeps pods without a matching toleration off a node. */
export const taint = object(undefined, {
  key: text('Name of the taint.'),
  value: optional(text('Value of the taint.')),
  effect: text('What happens to pods that do not tolerate it: NoSchedule, PreferNoSchedule or NoExecute.'),
  timeAdded: optional(timestamp('When the taint was added.')),
});
