// What the API server does to an object of a kind on its own, whatever a client sends.
import { nodes, podDisruptionBudgets, pods } from '@slipway/api';
import { type KubeObject, type Resource, resourceId } from '@slipway/kube';

interface Rules {
  /** Whether a created object may include its status. */
  readonly createsStatus: boolean;
  /** Whether a status write may also change annotations and labels. */
  readonly statusTakesMetadata: boolean;
  /** Counts changes of the desired state. */
  readonly hasGeneration: boolean;
}

const ofCustomKinds: Rules = { createsStatus: false, statusTakesMetadata: false, hasGeneration: true };
const ofKinds: Readonly<Record<string, Rules>> = {
  [resourceId(nodes)]: { createsStatus: true, statusTakesMetadata: true, hasGeneration: false },
  [resourceId(pods)]: { createsStatus: false, statusTakesMetadata: true, hasGeneration: true },
  [resourceId(podDisruptionBudgets)]: { createsStatus: false, statusTakesMetadata: true, hasGeneration: true },
};

const findRules = (resource: Resource): Rules => ofKinds[resourceId(resource)] ?? ofCustomKinds;

interface WithStatus extends KubeObject {
  status?: unknown;
}

export function startsAs<T extends KubeObject>(resource: Resource<T>, object: T): T {
  const { createsStatus, hasGeneration } = findRules(resource);
  const { status: _, ...rest }: WithStatus = object;
  const kept = createsStatus ? object : (rest as T);
  const first = resourceId(resource) === resourceId(pods) ? { ...kept, status: { phase: 'Pending' } } : kept;
  return hasGeneration ? { ...first, metadata: { ...first.metadata, generation: 1 } } : first;
}

/** Which part of a change lands: a status write changes the status, any other write everything else. */
export function keepsItsRules<T extends KubeObject>(resource: Resource<T>, old: T, wanted: T, subresource: string): T {
  const { statusTakesMetadata, hasGeneration } = findRules(resource);
  if (subresource === 'status') {
    const metadata = statusTakesMetadata ? wanted.metadata : old.metadata;
    return withStatusFrom({ ...old, metadata }, wanted);
  }
  const next = withStatusFrom(wanted, old);
  if (!hasGeneration) return next;
  const generation = (old.metadata.generation ?? 0) + (changesDesired(old, next) ? 1 : 0);
  return { ...next, metadata: { ...next.metadata, generation } };
}

function withStatusFrom<T extends KubeObject>(object: T, other: T): T {
  const { status: _, ...rest }: WithStatus = object;
  const { status }: WithStatus = other;
  return (status === undefined ? rest : { ...rest, status }) as T;
}

/** Parts that a patch does not touch are identical: there is nothing to compare in them. */
function changesDesired(old: KubeObject, next: KubeObject): boolean {
  const serializeDesired = ({ metadata: _metadata, status: _status, ...rest }: WithStatus): string =>
    JSON.stringify(rest);
  return serializeDesired(old) !== serializeDesired(next);
}
