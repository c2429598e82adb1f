// What the cluster's own objects say of the OS image streams: only the conditions that are ours, each by its field manager.
import {
  bootImageSkewAnnotation,
  type ClusterOperator,
  clusterOperators,
  type ClusterVersion,
  clusterVersions,
  machineConfigPools,
  machineConfigurations,
} from '@slipway/api';
import { type CodedProblem, formatProblems, streamsOf, trackedOf, upgradeableOf } from '@slipway/fleet';
import { isSaidByUs, joinUpgradeable } from '@slipway/fleet/stream-discovery';
import {
  type Client,
  type ControllerDef,
  done,
  type Gates,
  isKubeError,
  type KubeObject,
  type Read,
  type Resource,
  type Source,
  type Stored,
} from '@slipway/kube';
import { CLUSTER, clusterVersionSource, osImageStreamSource, streamObjectIn } from '../sources.ts';

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
async function sayOnClusterVersion(
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

// Whether the cluster may be upgraded: not while machines run an OS that the next release does not have, nor while new machines
// would boot an image that is too old for it. The condition has one writer: what boot images find is joined here.

const once = (): string[] => [CLUSTER];
const BOOT_IMAGES_GATE = 'ManagedBootImages';

/** Without a gate of its own: what is not there has nothing to say. */
export const upgradeableController = (gates: Gates): ControllerDef => ({
  name: 'os-streams-upgradeable',
  reads: [
    { resource: machineConfigPools, keysOf: once },
    { ...osImageStreamSource, keysOf: once },
    { ...operatorSource, keysOf: once },
    { ...clusterVersionSource, keysOf: once },
    { resource: machineConfigurations, fieldSelector: `metadata.name=${CLUSTER}`, keysOf: once },
  ],
  owns: [
    { resource: clusterOperators },
    { resource: clusterOperators, subresource: 'status' },
    { resource: clusterVersions, subresource: 'status' },
  ],
  startsWith: [CLUSTER],
  dependsOnGates: [BOOT_IMAGES_GATE],
  async reconcile(_, { read, client, log, now }) {
    const condition = upgradeableNow(read, gates);
    const operator = read(clusterOperators).get(OPERATOR);
    const before = operator?.status?.conditions?.find(({ type }) => type === condition.type);
    // That all is well needs no word of ours where streams are not used and we have said nothing else before.
    const isSilent = condition.status === 'True' && streamObjectIn(read) === undefined && !isSaidByUs(before?.reason);
    if (isSilent) return done();
    const isNew = await sayOnOperator(operator, condition, client, now());
    await sayOnClusterVersion(read(clusterVersions).get('version'), condition, client, now());
    if (isNew && condition.status === 'False') log.warn({}, condition.message);
    return done();
  },
});

function upgradeableNow(read: Read, gates: Gates): ClusterCondition {
  const object = streamObjectIn(read);
  const pools = [...read(machineConfigPools).values()].map(({ metadata, status }) => ({
    pool: metadata.name,
    tracked: trackedOf(metadata.annotations),
    runs: status?.osImageStream?.name ?? null,
  }));
  const streams = upgradeableOf(pools, object === undefined ? null : streamsOf(object));
  const { annotations } = read(machineConfigurations).get(CLUSTER)?.metadata ?? {};
  const skew = gates.isOn(BOOT_IMAGES_GATE) ? (annotations?.[bootImageSkewAnnotation] ?? null) : null;
  return { type: 'Upgradeable', ...joinUpgradeable(streams, skew) };
}
