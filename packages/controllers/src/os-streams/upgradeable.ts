// Whether the cluster may be upgraded: not while machines run an OS that the next release does not have.
import { clusterOperators, clusterVersions, machineConfigPools } from '@slipway/api';
import { streamsOf, trackedOf, upgradeableOf } from '@slipway/fleet';
import { type ControllerDef, done, type Read } from '@slipway/kube';
import {
  type ClusterCondition,
  OPERATOR,
  operatorSource,
  sayOnClusterVersion,
  sayOnOperator,
} from './cluster-conditions.ts';
import { osStreamsGate } from './gate.ts';
import { CLUSTER, clusterVersionSource, osImageStreamSource, streamObjectIn } from './stream-reads.ts';

const once = (): string[] => [CLUSTER];

export const upgradeableController: ControllerDef = {
  name: 'os-streams-upgradeable',
  gate: osStreamsGate,
  reads: [
    { resource: machineConfigPools, keysOf: once },
    { ...osImageStreamSource, keysOf: once },
    { ...operatorSource, keysOf: once },
    { ...clusterVersionSource, keysOf: once },
  ],
  owns: [
    { resource: clusterOperators },
    { resource: clusterOperators, subresource: 'status' },
    { resource: clusterVersions, subresource: 'status' },
  ],
  startsWith: [CLUSTER],
  async reconcile(_, { read, client, log, now }) {
    const condition = upgradeableNow(read);
    const isNew = await sayOnOperator(read(clusterOperators).get(OPERATOR), condition, client, now());
    await sayOnClusterVersion(read(clusterVersions).get('version'), condition, client, now());
    if (isNew && condition.status === 'False') log.warn({}, condition.message);
    return done();
  },
};

function upgradeableNow(read: Read): ClusterCondition {
  const object = streamObjectIn(read);
  const pools = [...read(machineConfigPools).values()].map(({ metadata, status }) => ({
    pool: metadata.name,
    tracked: trackedOf(metadata.annotations),
    runs: status?.osImageStream?.name ?? null,
  }));
  return { type: 'Upgradeable', ...upgradeableOf(pools, object === undefined ? null : streamsOf(object)) };
}
