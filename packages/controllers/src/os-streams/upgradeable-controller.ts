// Whether the cluster may be upgraded: not while machines run an OS that the next release does not have, nor while new
// machines would boot an image too old for it. The condition has one writer, so the result of boot images is merged
// here.
import {
  bootImageSkewAnnotation,
  type ClusterOperator,
  clusterOperators,
  type ClusterVersion,
  clusterVersions,
  customResourceDefinitions,
  machineConfigPools,
  machineConfigurations,
  SINGLETON_NAME,
} from '@slipway/api';
import { truncate } from '@slipway/base/text';
import { type CodedProblem, formatProblems, toStreams, readTrackedStream, computeUpgradeable } from '@slipway/fleet';
import { isReportedByUs, joinUpgradeable } from '@slipway/fleet/stream-discovery';
import {
  type Client,
  type Context,
  type ControllerDef,
  done,
  type Gates,
  type KubeObject,
  type StoreReader,
  type Resource,
  type Source,
  type Stored,
} from '@slipway/kube';
import { clusterVersionSource, osImageStreamSource, findStreamObject } from '../sources.ts';

const once = (): string[] => [SINGLETON_NAME];
const BOOT_IMAGES_GATE = 'ManagedBootImages';

/** Has no feature gate: absent objects add nothing to the condition. */
export const upgradeableController = (gates: Gates): ControllerDef => ({
  name: 'os-streams-upgradeable',
  reads: [
    { resource: machineConfigPools, keysOf: once },
    { ...osImageStreamSource, keysOf: once },
    { ...operatorSource, keysOf: once },
    { ...clusterVersionSource, keysOf: once },
    { resource: machineConfigurations, fieldSelector: `metadata.name=${SINGLETON_NAME}`, keysOf: once },
  ],
  owns: [
    { resource: clusterOperators },
    { resource: clusterOperators, subresource: 'status' },
    { resource: clusterVersions, subresource: 'status' },
  ],
  startsWith: [SINGLETON_NAME],
  dependsOnGates: [BOOT_IMAGES_GATE],
  async reconcile(_, context) {
    const { read, log } = context;
    const condition = computeUpgradeableCondition(read, gates);
    const operator = read(clusterOperators).get(OPERATOR);
    const before = operator?.status?.conditions?.find(({ type }) => type === condition.type);
    // Without streams, Upgradeable=True is not worth reporting, unless we reported something else before.
    const isSilent =
      condition.status === 'True' && findStreamObject(read) === undefined && !isReportedByUs(before?.reason);
    if (isSilent) return done();
    const isNew = await publishOnOperator(operator, condition, context);
    await publishOnClusterVersion(read(clusterVersions).get('version'), condition, context);
    if (isNew && condition.status === 'False') log.warn({}, condition.message);
    return done();
  },
});

function computeUpgradeableCondition(read: StoreReader, gates: Gates): ClusterCondition {
  const object = findStreamObject(read);
  const pools = [...read(machineConfigPools).values()].map(({ metadata, status }) => ({
    pool: metadata.name,
    tracked: readTrackedStream(metadata.annotations),
    runs: status?.osImageStream?.name ?? null,
  }));
  const streams = computeUpgradeable(pools, object === undefined ? null : toStreams(object));
  const { annotations } = read(machineConfigurations).get(SINGLETON_NAME)?.metadata ?? {};
  const skew = gates.isOn(BOOT_IMAGES_GATE) ? (annotations?.[bootImageSkewAnnotation] ?? null) : null;
  return { type: 'Upgradeable', ...joinUpgradeable(streams, skew) };
}

// What the cluster's objects report about OS image streams: only our conditions, each with a field manager.

export const OPERATOR = 'machine-config';

export const operatorSource: Source<ClusterOperator> = {
  resource: clusterOperators,
  fieldSelector: `metadata.name=${OPERATOR}`,
};

export const DEGRADED_REASON = 'OSImageStreamDegraded';
const MAX_MESSAGE_LENGTH = 4000;

export interface ClusterCondition {
  /** One controller per type, so that each has one owner by field manager. */
  readonly type: 'Degraded' | 'Upgradeable';
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

export function buildDegradedCondition(problems: readonly CodedProblem[]): ClusterCondition {
  const message = formatProblems(problems);
  return problems.length === 0
    ? { type: 'Degraded', status: 'False', reason: 'AsExpected', message: '' }
    : { type: 'Degraded', status: 'True', reason: DEGRADED_REASON, message: truncate(message, MAX_MESSAGE_LENGTH) };
}

/** Creates ClusterOperator machine-config if the platform has none. Returns whether it wrote something. */
export async function publishOnOperator(
  operator: Stored<ClusterOperator> | undefined,
  condition: ClusterCondition,
  context: WriteContext,
): Promise<boolean> {
  return apply(clusterOperators, operator ?? (await makeOperator(context)), condition, context);
}

type WriteContext = Pick<Context, 'client' | 'write' | 'now'>;

async function makeOperator({ client, write }: WriteContext): Promise<Stored<ClusterOperator>> {
  const made = await write.createIfAbsent(clusterOperators, { metadata: { name: OPERATOR }, spec: {} });
  // The cache is stale, or another controller created it first.
  return made ?? client.get(clusterOperators, { name: OPERATOR });
}

/** Writes only this condition: the rest of the status belongs to the version operator. Without a status, nothing. */
async function publishOnClusterVersion(
  version: Stored<ClusterVersion> | undefined,
  condition: ClusterCondition,
  context: WriteContext,
): Promise<boolean> {
  if (version?.status === undefined) return false;
  const before = version.status.conditions?.find(({ type }) => type === condition.type);
  // Upgradeable=True is not worth reporting where nothing was reported before.
  if (before === undefined && condition.status === 'True') return false;
  if (isPublished(before, condition) || !(await isClusterVersionOurs(context.client))) return false;
  return apply(clusterVersions, version, condition, context);
}

/** The field manager of `slipway install`. */
const INSTALL_MANAGER = 'slipway-install';

/** If the platform ships the kind, its operator owns the object: we report only where we installed the CRD. */
async function isClusterVersionOurs(client: Client): Promise<boolean> {
  const crd = await client.find(customResourceDefinitions, {
    name: `${clusterVersions.plural}.${clusterVersions.group}`,
  });
  return crd?.metadata.managedFields?.some(({ manager }) => manager === INSTALL_MANAGER) === true;
}

interface WithConditions extends KubeObject {
  status?: { conditions?: StoredCondition[] };
}
interface StoredCondition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastTransitionTime: string;
}

const isPublished = (before: StoredCondition | undefined, { status, reason, message }: ClusterCondition): boolean =>
  before?.status === status && before.reason === reason && (before.message ?? '') === message;

async function apply<T extends WithConditions>(
  resource: Resource<T>,
  object: Stored<T>,
  condition: ClusterCondition,
  { write, now }: WriteContext,
): Promise<boolean> {
  const before = object.status?.conditions?.find(({ type }) => type === condition.type);
  if (isPublished(before, condition)) return false;
  const { name } = object.metadata;
  const lastTransitionTime =
    before?.status === condition.status ? before.lastTransitionTime : `${now().toISOString().slice(0, 19)}Z`;
  const body = { metadata: { name }, status: { conditions: [{ ...condition, lastTransitionTime }] } };
  await write.apply<KubeObject>(resource, object, body, { subresource: 'status', force: true });
  return true;
}
