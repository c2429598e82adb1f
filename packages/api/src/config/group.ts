// What the kinds of config.openshift.io share.
import { listMap, object, optional, text, timestamp } from '../schema.ts';

export const CONFIG_GROUP = 'config.openshift.io';

/** Findings in the form that ClusterOperator and ClusterVersion use: reason and message may be left out. */
export const clusterStatusConditions = (description: string) =>
  listMap(
    description,
    object(undefined, {
      type: text('What the condition is about: Available, Progressing, Degraded, Upgradeable and others.'),
      status: text('Whether the condition holds: True, False or Unknown.'),
      reason: optional(text('Why, in one CamelCase word that programs may rely on.')),
      message: optional(text('Why, in a sentence for people.')),
      lastTransitionTime: timestamp('When the status last changed.'),
    }),
    ['type'],
  );
