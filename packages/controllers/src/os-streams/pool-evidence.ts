// What the machines of a pool run that has no stream written down: a cluster from before streams.
import {
  clusterVersions,
  configMaps,
  type MachineConfigPool,
  machineConfigPools,
  machineConfigs,
  nodes,
} from '@slipway/api';
import {
  distributionOf,
  needsImageLabels,
  poolOf,
  type RunsEvidence,
  type StreamImages,
  type Streams,
} from '@slipway/fleet';
import { configMapPair, osImagesConfigMap } from '@slipway/fleet/stream-discovery';
import type { Client, Read, Stored } from '@slipway/kube';

export interface EvidenceSources {
  readonly read: Read;
  readonly client: Client;
  readonly namespace: string;
  readonly signal: AbortSignal;
}

/** All but the labels, for which a registry has to be asked. */
export async function evidenceOf(
  pool: Stored<MachineConfigPool>,
  streams: Streams,
  { read, client, namespace, signal }: EvidenceSources,
): Promise<RunsEvidence> {
  return {
    statusStream: pool.status?.osImageStream?.name ?? null,
    renderedImages: await renderedImages(pool, client, signal),
    imageLabels: null,
    nodeOsImages: nodeOsImages(pool, read),
    distribution: distributionOf(platformVersion(read, namespace), streams.available),
    streams: streams.available,
    lastStreams: [],
  };
}

/** The image whose labels would tell; null: nobody has to be asked. */
export const imageToAsk = (evidence: RunsEvidence): string | null =>
  needsImageLabels(evidence) ? (evidence.renderedImages?.osImage ?? null) : null;

/** Of the config that every machine has; the newest one may never have reached any. */
async function renderedImages(
  { spec, status }: MachineConfigPool,
  client: Client,
  signal: AbortSignal,
): Promise<StreamImages | null> {
  const name = status?.configuration?.name ?? spec.configuration?.name;
  if (name === undefined) return null;
  const rendered = await client.find(machineConfigs, { name }, { signal });
  if (rendered === undefined) return null;
  const { osImageURL = '', baseOSExtensionsContainerImage = '' } = rendered.spec ?? {};
  return { osImage: osImageURL, osExtensionsImage: baseOSExtensionsContainerImage };
}

function nodeOsImages({ metadata }: MachineConfigPool, read: Read): string[] {
  const pools = [...read(machineConfigPools).values()];
  return [...read(nodes).values()].flatMap((node) => {
    const chosen = poolOf(node.metadata, pools);
    return chosen.ok && chosen.pool === metadata.name ? [node.status?.nodeInfo?.osImage ?? ''] : [];
  });
}

function platformVersion(read: Read, namespace: string): string | null {
  const desired = read(clusterVersions).get('version')?.status?.desired.version;
  return desired ?? configMapPair(read(configMaps).get(`${namespace}/${osImagesConfigMap}`)?.data)?.version ?? null;
}
