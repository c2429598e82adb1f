// Reports the state of all jobs on ClusterOperator machine-config. Upgradeable has another writer.
import {
  clusterOperators,
  clusterVersions,
  dataImages,
  machineConfigPools,
  machineConfigurations,
  releasePayloadImageAnnotation,
  SINGLETON_NAME,
} from '@slipway/api';
import { computeOperatorStatus } from '@slipway/fleet';
import { type ControllerDef, done, type Gates, type StoreReader } from '@slipway/kube';
import { OPERATOR, operatorSource, publishOnOperator, STREAMS_DEGRADED } from './cluster-operator.ts';
import { OS_STREAMS_GATE, usesStreams } from './feature-gates.ts';
import { clusterVersionSource, findStreamObject, osImageStreamSource } from './sources.ts';

export interface ClusterOperatorOptions {
  readonly controllerVersion: string;
  readonly gates: Gates;
  /** Whether Slipway manages bare-metal hosts: otherwise their kinds may not exist. */
  readonly managesHosts: boolean;
}

/** Many changes of pools during a rollout are one report. */
const SETTLE_MS = 250;
const once = (): string[] => [SINGLETON_NAME];

export const clusterOperatorController = (options: ClusterOperatorOptions): ControllerDef => ({
  name: 'cluster-operator',
  reads: [
    { resource: machineConfigPools, keysOf: once },
    { ...osImageStreamSource, keysOf: once },
    { ...operatorSource, keysOf: once },
    { ...clusterVersionSource, keysOf: once },
    { resource: machineConfigurations, fieldSelector: `metadata.name=${SINGLETON_NAME}`, keysOf: once },
    ...(options.managesHosts ? [{ resource: dataImages, keysOf: once }] : []),
  ],
  owns: [{ resource: clusterOperators }, { resource: clusterOperators, subresource: 'status' }],
  startsWith: [SINGLETON_NAME],
  dependsOnGates: [OS_STREAMS_GATE],
  settleMs: () => SETTLE_MS,
  async reconcile(_, context) {
    const { read } = context;
    const operator = read(clusterOperators).get(OPERATOR);
    const { desired } = read(clusterVersions).get('version')?.status ?? {};
    const { conditions, versions } = computeOperatorStatus({
      platformVersion: desired?.version ?? null,
      controllerVersion: options.controllerVersion,
      areStreamsCurrent: areStreamsCurrent(desired?.image, options.gates, read),
      pools: [...read(machineConfigPools).values()],
      streams: operator?.status?.conditions?.find(({ type }) => type === STREAMS_DEGRADED),
      machineConfiguration: read(machineConfigurations).get(SINGLETON_NAME),
      dataImages: options.managesHosts ? [...read(dataImages).values()] : [],
      reported: operator?.status?.versions?.find(({ name }) => name === 'operator')?.version ?? null,
    });
    await publishOnOperator(operator, conditions, context, [...versions]);
    return done();
  },
});

/** Before the streams of a new release are read, pools are still updated with the OS of the old one. */
function areStreamsCurrent(image: string | undefined, gates: Gates, read: StoreReader): boolean {
  if (image === undefined || image === '' || !usesStreams(gates)) return true;
  return findStreamObject(read)?.metadata.annotations?.[releasePayloadImageAnnotation] === image;
}
