// What the cluster's own objects say of the OS image streams: only the conditions that are ours, each by its field manager.
import { type ClusterOperator, clusterOperators, type ClusterVersion, clusterVersions } from '@slipway/api';
import { type CodedProblem, formatProblems } from '@slipway/fleet';
import { type Client, isKubeError, type KubeObject, type Resource, type Source, type Stored } from '@slipway/kube';

export const OPERATOR = 'machine-config';

export const operatorSource: Source<ClusterOperator> = {
  resource: clusterOperators,
  fieldSelector: `metadata.name=${OPERATOR}`,
};

/** One type each, so that each has one owner. */
export const managers = {
  Degraded: 'slipway-os-streams',
  Upgradeable: 'slipway-os-streams-upgradeable',
} as const;

export const degradedReason = 'OSImageStreamDegraded';
const LONGEST_MESSAGE = 4000;

export interface ClusterCondition {
  readonly type: keyof typeof managers;
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

export function degradedBy(problems: readonly CodedProblem[]): ClusterCondition {
  const message = formatProblems(problems);
  return problems.length === 0
    ? { type: 'Degraded', status: 'False', reason: 'AsExpected', message: '' }
    : { type: 'Degraded', status: 'True', reason: degradedReason, message: cut(message) };
}

/** ClusterOperator machine-config is made where nobody brings it. Says whether something was written. */
export async function sayOnOperator(
  operator: Stored<ClusterOperator> | undefined,
  condition: ClusterCondition,
  client: Client,
  now: Date,
): Promise<boolean> {
  if (operator !== undefined) return apply(clusterOperators, operator, condition, client, now);
  const made = await makeOperator(client, condition);
  return apply(clusterOperators, made, condition, client, now);
}

async function makeOperator(client: Client, { type }: ClusterCondition): Promise<Stored<ClusterOperator>> {
  try {
    return await client.create(
      clusterOperators,
      { metadata: { name: OPERATOR }, spec: {} },
      { fieldManager: managers[type] },
    );
  } catch (error) {
    // Our cache is behind, or another controller was faster.
    if (!isKubeError(error, 'SLW_KUBE_ALREADY_EXISTS')) throw error;
    return client.get(clusterOperators, { name: OPERATOR });
  }
}

/** The rest of its status is its operator's, and without it there is nothing to say. */
export async function sayOnClusterVersion(
  version: Stored<ClusterVersion> | undefined,
  condition: ClusterCondition,
  client: Client,
  now: Date,
): Promise<boolean> {
  if (version?.status === undefined) return false;
  const before = version.status.conditions?.find(({ type }) => type === condition.type);
  // That all is well needs no word where nothing else was said.
  if (before === undefined && condition.status === 'True') return false;
  if (isSaid(before, condition) || !(await isOursToSay(client))) return false;
  return apply(clusterVersions, version, condition, client, now);
}

interface Crd extends KubeObject {
  readonly metadata: KubeObject['metadata'] & { managedFields?: { manager?: string; subresource?: string }[] };
}
const crds: Resource<Crd> = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  namespaced: false,
};
/** Who `slipway install` writes as. */
const installManager = 'slipway-install';

/** Where the platform brings the kind, its operator owns the object: we say something only where we brought it. */
async function isOursToSay(client: Client): Promise<boolean> {
  const crd = await client.find(crds, { name: `${clusterVersions.plural}.${clusterVersions.group}` });
  return crd?.metadata.managedFields?.some(({ manager }) => manager === installManager) === true;
}

interface WithConditions extends KubeObject {
  status?: { conditions?: Said[] };
}
interface Said {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastTransitionTime: string;
}

const isSaid = (before: Said | undefined, { status, reason, message }: ClusterCondition): boolean =>
  before?.status === status && before.reason === reason && (before.message ?? '') === message;

async function apply<T extends WithConditions>(
  resource: Resource<T>,
  object: Stored<T>,
  condition: ClusterCondition,
  client: Client,
  now: Date,
): Promise<boolean> {
  const before = object.status?.conditions?.find(({ type }) => type === condition.type);
  if (isSaid(before, condition)) return false;
  const { name, resourceVersion } = object.metadata;
  const lastTransitionTime =
    before?.status === condition.status ? before.lastTransitionTime : `${now.toISOString().slice(0, 19)}Z`;
  const said = { metadata: { name }, status: { conditions: [{ ...condition, lastTransitionTime }] } };
  await client.apply<KubeObject>(
    resource,
    said,
    { resourceVersion },
    { fieldManager: managers[condition.type], subresource: 'status', force: true },
  );
  return true;
}

const cut = (text: string): string =>
  text.length <= LONGEST_MESSAGE ? text : `${text.slice(0, LONGEST_MESSAGE - 1)}…`;
