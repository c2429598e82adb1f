// ClusterOperator machine-config: only our conditions, each with one controller and one field manager.
import { type ClusterOperator, clusterOperators } from '@slipway/api';
import { isEqual } from '@slipway/base/equal';
import type { Context, KubeObject, Resource, Source, Stored } from '@slipway/kube';

export const OPERATOR = 'machine-config';

export const operatorSource: Source<ClusterOperator> = {
  resource: clusterOperators,
  fieldSelector: `metadata.name=${OPERATOR}`,
};

/** On the ClusterOperator: what is wrong with the sources of OS image streams. Part of Degraded. */
export const STREAMS_DEGRADED = 'OSImageStreamsDegraded';

export interface ClusterCondition {
  readonly type: string;
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

type Versions = NonNullable<NonNullable<ClusterOperator['status']>['versions']>;
type WriteContext = Pick<Context, 'client' | 'write' | 'now'>;

/** Creates the object if the platform has none. Returns whether it wrote something. */
export async function publishOnOperator(
  operator: Stored<ClusterOperator> | undefined,
  conditions: readonly ClusterCondition[],
  context: WriteContext,
  versions?: Versions,
): Promise<boolean> {
  return applyConditions(clusterOperators, operator ?? (await makeOperator(context)), conditions, context, versions);
}

async function makeOperator({ client, write }: WriteContext): Promise<Stored<ClusterOperator>> {
  const made = await write.createIfAbsent(clusterOperators, { metadata: { name: OPERATOR }, spec: {} });
  // The cache is stale, or another controller created it first.
  return made ?? client.get(clusterOperators, { name: OPERATOR });
}

interface WithConditions extends KubeObject {
  status?: { conditions?: StoredCondition[]; versions?: Versions };
}

interface StoredCondition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastTransitionTime: string;
}

const isSame = (before: StoredCondition | undefined, { status, reason, message }: ClusterCondition): boolean =>
  before?.status === status && before.reason === reason && (before.message ?? '') === message;

/** Whether the object has these conditions. */
export const isPublished = (object: WithConditions, conditions: readonly ClusterCondition[]): boolean =>
  conditions.every((each) => isSame(findCondition(object, each.type), each));

const findCondition = ({ status }: WithConditions, type: string): StoredCondition | undefined =>
  status?.conditions?.find((each) => each.type === type);

/** All conditions of the calling controller: it gives up those that are missing. */
export async function applyConditions<T extends WithConditions>(
  resource: Resource<T>,
  object: Stored<T>,
  conditions: readonly ClusterCondition[],
  { write, now }: WriteContext,
  versions?: Versions,
): Promise<boolean> {
  const hasVersions = versions === undefined || isEqual(object.status?.versions ?? [], versions);
  if (hasVersions && isPublished(object, conditions)) return false;
  const time = `${now().toISOString().slice(0, 19)}Z`;
  const written = conditions.map(({ type, status, reason, message }) => {
    const before = findCondition(object, type);
    const lastTransitionTime = before?.status === status ? before.lastTransitionTime : time;
    return { type, status, reason, message, lastTransitionTime };
  });
  const body = {
    metadata: { name: object.metadata.name },
    status: { conditions: written, ...(versions !== undefined && { versions }) },
  };
  await write.apply<KubeObject>(resource, object, body, { subresource: 'status', force: true });
  return true;
}
