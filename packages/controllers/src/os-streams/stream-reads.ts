// What the controllers of OS image streams watch, and how the sources of a cluster are read out of it.
import {
  type ClusterVersion,
  clusterVersions,
  type ConfigMap,
  configMaps,
  machineConfigPools,
  type OSImageStream,
  osImageStreams,
  type Secret,
  secrets,
} from '@slipway/api';
import { configMapPair, osImagesConfigMap, pairOf, type StreamSources } from '@slipway/fleet/stream-discovery';
import type { Read, Source, Stored } from '@slipway/kube';

/** The only OSImageStream there is, and the key of what happens once a cluster. */
export const CLUSTER = 'cluster';

export interface SourceOptions {
  /** Ours: where the ConfigMap with the OS images lives. */
  readonly namespace: string;
  /** Flags; below the ConfigMap. */
  readonly osImage?: string | undefined;
  readonly osExtensionsImage?: string | undefined;
  /** Where there is no ClusterVersion. */
  readonly releaseImage?: string | undefined;
}

export const osImageStreamSource: Source<OSImageStream> = {
  resource: osImageStreams,
  fieldSelector: `metadata.name=${CLUSTER}`,
};

export const clusterVersionSource: Source<ClusterVersion> = {
  resource: clusterVersions,
  fieldSelector: 'metadata.name=version',
};

export const osImagesSource = (namespace: string): Source<ConfigMap> => ({
  resource: configMaps,
  namespace,
  fieldSelector: `metadata.name=${osImagesConfigMap}`,
});

export const pullSecretSource = ({ namespace, name }: { namespace: string; name: string }): Source<Secret> => ({
  resource: secrets,
  namespace,
  fieldSelector: `metadata.name=${name}`,
});

/** What the streams of this cluster come from now. Reads the ConfigMap and the ClusterVersion. */
export function sourcesIn(read: Read, options: SourceOptions): StreamSources {
  const configMap = read(configMaps).get(`${options.namespace}/${osImagesConfigMap}`);
  const image = read(clusterVersions).get('version')?.status?.desired.image ?? '';
  const release = image === '' ? (options.releaseImage ?? '') : image;
  return {
    commandLine: pairOf(options.osImage, options.osExtensionsImage),
    configMap: configMapPair(configMap?.data),
    release: release === '' ? null : { image: release },
  };
}

export const streamObjectIn = (read: Read): Stored<OSImageStream> | undefined => read(osImageStreams).get(CLUSTER);

export const everyPool = (_: unknown, read: Read): string[] =>
  [...read(machineConfigPools).values()].map(({ metadata }) => metadata.name);
