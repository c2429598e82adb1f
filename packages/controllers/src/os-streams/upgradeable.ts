// Whether the cluster may be upgraded: not while machines run an OS that the next release does not have, nor while new machines
// would boot an image that is too old for it. The condition has one writer: what boot images find is joined here.
import {
  bootImageSkewAnnotation,
  clusterOperators,
  clusterVersions,
  machineConfigPools,
  machineConfigurations,
} from '@slipway/api';
import { streamsOf, trackedOf, upgradeableOf } from '@slipway/fleet';
import { isSaidByUs, joinUpgradeable } from '@slipway/fleet/stream-discovery';
import { type ControllerDef, done, type Gates, type Read } from '@slipway/kube';
import {
  type ClusterCondition,
  OPERATOR,
  operatorSource,
  sayOnClusterVersion,
  sayOnOperator,
} from './cluster-conditions.ts';
import { CLUSTER, clusterVersionSource, osImageStreamSource, streamObjectIn } from './stream-reads.ts';

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
