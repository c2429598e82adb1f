// Reads from a cluster what decisions about boot images need. Nothing here writes.
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
  /** Failed updates of the controllers. */
  readonly failures: Failures;
}

/** `namespace`: the namespace of Slipway. */
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
 * The controllers may have another version than this command. When they start, they remove a stamp of another version,
 * so the existing stamp is from them.
 */
const stampedBy = (configMap: ConfigMap | undefined): string => configMap?.data?.[stampKeys.version] ?? version;

/** The controllers use the architecture of their node, which may differ from that of this command. Null: no nodes. */
async function architectureOfNodes(client: Client): Promise<string | null> {
  for await (const { metadata } of client.list(nodes, { pageSize: 1 })) {
    return metadata.labels?.['kubernetes.io/arch'] ?? null;
  }
  return null;
}
