// Whether the cluster may be upgraded: not while pools are degraded, while machines run an OS that the next release does
// not have, nor while new machines would boot an image too old for it. The condition has one writer, so the results of
// all jobs are merged here.
import {
  bootImageSkewAnnotation,
  clusterOperators,
  type ClusterVersion,
  clusterVersions,
  customResourceDefinitions,
  machineConfigPools,
  machineConfigurations,
  SINGLETON_NAME,
} from '@slipway/api';
import { truncate } from '@slipway/base/text';
import {
  type CodedProblem,
  computeUpgradeable,
  formatProblems,
  joinUpgradeable,
  type PoolOnStream,
  readTrackedStream,
  stateOfStream,
  type Streams,
  type StreamState,
  toStreams,
} from '@slipway/fleet';
import {
  type Client,
  type Context,
  type ControllerDef,
  done,
  type Gates,
  type StoreReader,
  type Stored,
} from '@slipway/kube';
import {
  applyConditions,
  type ClusterCondition,
  isPublished,
  OPERATOR,
  operatorSource,
  publishOnOperator,
  STREAMS_DEGRADED,
} from '../cluster-operator.ts';
import { clusterVersionSource, osImageStreamSource, findStreamObject } from '../sources.ts';
import type { StreamMetrics } from './metrics.ts';

const once = (): string[] => [SINGLETON_NAME];
const BOOT_IMAGES_GATE = 'ManagedBootImages';

/** Has no feature gate: absent objects add nothing to the condition. */
export const upgradeableController = (gates: Gates, metrics?: StreamMetrics): ControllerDef => ({
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
    const pools = listPools(read);
    const object = findStreamObject(read);
    const streams = object === undefined ? null : toStreams(object);
    metrics?.pools(streams === null ? [] : pools.flatMap((pool) => ofStream(pool, streams)));
    const condition = computeUpgradeableCondition(pools, streams, read, gates);
    const operator = read(clusterOperators).get(OPERATOR);
    const isNew = await publishOnOperator(operator, [condition], context);
    await publishOnClusterVersion(read(clusterVersions).get('version'), condition, context);
    if (isNew && condition.status === 'False') log.warn({}, condition.message);
    return done();
  },
});

const listPools = (read: StoreReader): PoolOnStream[] =>
  [...read(machineConfigPools).values()].map(({ metadata, status }) => ({
    pool: metadata.name,
    tracked: readTrackedStream(metadata.annotations),
    runs: status?.osImageStream?.name ?? null,
  }));

const ofStream = ({ tracked }: PoolOnStream, streams: Streams): { stream: string; state: StreamState }[] =>
  tracked === null || tracked.name === null
    ? []
    : [{ stream: tracked.name, state: stateOfStream(tracked.name, streams) }];

function computeUpgradeableCondition(
  pools: readonly PoolOnStream[],
  streams: Streams | null,
  read: StoreReader,
  gates: Gates,
): ClusterCondition {
  const { annotations } = read(machineConfigurations).get(SINGLETON_NAME)?.metadata ?? {};
  const skew = gates.isOn(BOOT_IMAGES_GATE) ? (annotations?.[bootImageSkewAnnotation] ?? null) : null;
  const facts = {
    pools: [...read(machineConfigPools).values()],
    streams: computeUpgradeable(pools, streams),
    skew,
  };
  return { type: 'Upgradeable', ...joinUpgradeable(facts) };
}

const DEGRADED_REASON = 'OSImageStreamDegraded';
const MAX_MESSAGE_LENGTH = 4000;

export function buildStreamsCondition(problems: readonly CodedProblem[]): ClusterCondition {
  const message = formatProblems(problems);
  return problems.length === 0
    ? { type: STREAMS_DEGRADED, status: 'False', reason: 'AsExpected', message: '' }
    : {
        type: STREAMS_DEGRADED,
        status: 'True',
        reason: DEGRADED_REASON,
        message: truncate(message, MAX_MESSAGE_LENGTH),
      };
}

/** Writes only this condition: the rest of the status belongs to the version operator. Without a status, nothing. */
async function publishOnClusterVersion(
  version: Stored<ClusterVersion> | undefined,
  condition: ClusterCondition,
  context: Pick<Context, 'client' | 'write' | 'now'>,
): Promise<boolean> {
  if (version?.status === undefined) return false;
  const before = version.status.conditions?.find(({ type }) => type === condition.type);
  // Upgradeable=True is not worth reporting where nothing was reported before.
  if (before === undefined && condition.status === 'True') return false;
  if (isPublished(version, [condition]) || !(await isClusterVersionOurs(context.client))) return false;
  return applyConditions(clusterVersions, version, [condition], context);
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
