import type { Pod } from '@slipway/api';
import type { Stored } from '@slipway/kube';

/** What is looked at: a pod has far more. */
export function trimPod({ metadata, spec, status }: Stored<Pod>): Stored<Pod> {
  const { name, namespace, uid, resourceVersion, labels, deletionTimestamp } = metadata;
  return {
    metadata: {
      name,
      uid,
      resourceVersion,
      ...(namespace !== undefined && { namespace }),
      ...(labels !== undefined && { labels }),
      ...(deletionTimestamp !== undefined && { deletionTimestamp }),
    },
    ...(spec?.nodeName !== undefined && { spec: { nodeName: spec.nodeName } }),
    ...(status?.phase !== undefined && { status: { phase: status.phase } }),
  };
}
