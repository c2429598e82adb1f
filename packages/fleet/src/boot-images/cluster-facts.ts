// What is the same for all resources of a cluster, out of its objects.
import { osStreamAnnotation } from '@slipway/api';
import type { ClusterVersion, Infrastructure, MachineConfigPool, MachineConfiguration } from '@slipway/api';
import { type ClusterFacts, optInOf } from './facts.ts';
import type { Golden } from './golden.ts';
import type { MachineContext } from './machine-api-facts.ts';

export interface ClusterObjects {
  readonly machineConfiguration: MachineConfiguration | undefined;
  readonly worker: Pick<MachineConfigPool, 'metadata'> | undefined;
  readonly infrastructure: Pick<Infrastructure, 'status'> | undefined;
  readonly clusterVersion: Pick<ClusterVersion, 'status'> | undefined;
}

export function clusterFactsOf(
  { machineConfiguration, worker, infrastructure }: ClusterObjects,
  { reading, knownImages }: Pick<Golden, 'reading' | 'knownImages'>,
  now: number,
): ClusterFacts {
  const { infrastructureName = '', platformStatus } = infrastructure?.status ?? {};
  return {
    optIn: optInOf(machineConfiguration),
    golden: reading,
    workerStream: worker?.metadata.annotations?.[osStreamAnnotation] ?? null,
    infrastructureName,
    azureCloud: platformStatus?.azure?.cloudName ?? '',
    knownImages,
    now,
  };
}

export const machineContextOf = ({ infrastructure, clusterVersion }: ClusterObjects): MachineContext => ({
  platformType: platformTypeOf(infrastructure?.status),
  clusterArchitecture: clusterVersion?.status?.desired.architecture ?? '',
  ownArchitecture: kubernetesName[process.arch] ?? process.arch,
});

const platformTypeOf = (status: Infrastructure['status']): string =>
  status?.platformStatus?.type ?? status?.platform ?? '';

const kubernetesName: Readonly<Partial<Record<NodeJS.Architecture, string>>> = { x64: 'amd64', ppc64: 'ppc64le' };

/** The release that the cluster was installed with; null: not known. Its history has the newest first. */
export const installVersionOf = ({ clusterVersion }: Pick<ClusterObjects, 'clusterVersion'>): string | null =>
  clusterVersion?.status?.history?.at(-1)?.version ?? null;
