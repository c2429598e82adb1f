// All that the decisions about boot images look at, out of a cluster. Nothing here writes.
import {
  bootImageFailuresAnnotation,
  BOOT_IMAGES_CONFIG_MAP,
  clusterVersions,
  type ConfigMap,
  configMaps,
  infrastructures,
  machineConfigPools,
  machineConfigurations,
  nodes,
  SINGLETON_NAME,
} from '@slipway/api';
import {
  type ClusterApiContext,
  type ClusterFacts,
  readClusterFacts,
  decodeFailures,
  type Failures,
  readMachineContext,
  readGolden,
  readRegion,
  stampKeys,
} from '@slipway/fleet/boot-images';
import type { Client } from '@slipway/kube';
import { findWhereKnown } from '../cli/cluster.ts';
import { version } from '../cli/program.ts';

export interface ReadCluster {
  readonly facts: ClusterFacts;
  readonly context: ClusterApiContext;
  /** What the controllers could not carry out. */
  readonly failures: Failures;
}

/** `namespace`: where Slipway runs. */
export async function readCluster(client: Client, namespace: string, now = Date.now()): Promise<ReadCluster> {
  const [configMap, worker, machineConfiguration, infrastructure, clusterVersion, architecture] = await Promise.all([
    client.find(configMaps, { namespace, name: BOOT_IMAGES_CONFIG_MAP }),
    client.find(machineConfigPools, { name: 'worker' }),
    client.find(machineConfigurations, { name: SINGLETON_NAME }),
    findWhereKnown(client, infrastructures, { name: SINGLETON_NAME }),
    findWhereKnown(client, clusterVersions, { name: 'version' }),
    architectureOfNodes(client),
  ]);
  const objects = { machineConfiguration, worker, infrastructure, clusterVersion };
  const golden = readGolden(configMap, stampedBy(configMap), now);
  const context = { ...readMachineContext(objects), region: readRegion(infrastructure) };
  return {
    facts: readClusterFacts(objects, golden, now),
    failures: decodeFailures(machineConfiguration?.metadata.annotations?.[bootImageFailuresAnnotation]),
    context: architecture === null ? context : { ...context, ownArchitecture: architecture },
  };
}

/**
 * The controllers may be of another version than this command. They take away a stamp that is not of theirs as soon as they
 * start, so the one that is there is.
 */
const stampedBy = (configMap: ConfigMap | undefined): string => configMap?.data?.[stampKeys.version] ?? version;

/** The controllers go by the machine they run on; this command may run on another kind. Null: there is no node. */
async function architectureOfNodes(client: Client): Promise<string | null> {
  for await (const { metadata } of client.list(nodes, { pageSize: 1 })) {
    return metadata.labels?.['kubernetes.io/arch'] ?? null;
  }
  return null;
}
