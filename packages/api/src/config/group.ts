// Shared by the kinds of config.openshift.io.
import { listMap, object, optional, text, timestamp } from '../schema.ts';

export const CONFIG_GROUP = 'config.openshift.io';

/** Conditions in the form of ClusterOperator and ClusterVersion: reason and message are optional. */
export const clusterStatusConditions = (description: string) =>
  listMap(
    description,
    object(undefined, {
      type: text('Type of the condition: Available, Progressing, Degraded, Upgradeable and others.'),
      status: text('Status of the condition: True, False or Unknown.'),
      reason: optional(text('Machine-readable reason, one CamelCase word.')),
      message: optional(text('Human-readable explanation.')),
      lastTransitionTime: timestamp('When the status last changed.'),
    }),
    ['type'],
  );
