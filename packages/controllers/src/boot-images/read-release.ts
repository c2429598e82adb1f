// Out of the cluster: which release it is at, and how far its machines are with it.
import {
  clusterVersions,
  configMaps,
  type MachineConfigPool,
  machineConfigPools,
  machineConfigs,
  releasePayloadImageAnnotation,
  targetConfigAnnotation,
} from '@slipway/api';
import { findStream, selectMachineConfigs, streamsOf } from '@slipway/fleet';
import type { PoolOsProgress, PoolProgress, ReleaseFacts, ReleaseSource } from '@slipway/fleet/boot-images';
import { osImagesConfigMap } from '@slipway/fleet/stream-discovery';
import type { Context, Read, Source } from '@slipway/kube';
import { poolOsOf, type PoolOsOptions } from '../pool-os.ts';
import {
  clusterVersionSource,
  givenMachineConfigs,
  osImagesSource,
  osImageStreamSource,
  streamObjectIn,
} from '../sources.ts';

/** ConfigMaps beside that with the OS images may only be read as metadata. */
export const releaseSources = ({ namespace }: PoolOsOptions, keysOf: () => string[]): readonly Source[] => [
  { resource: machineConfigPools, keysOf },
  { ...osImagesSource(namespace), keysOf },
  { ...osImageStreamSource, keysOf },
  { ...clusterVersionSource, keysOf },
  { ...givenMachineConfigs, keysOf: () => [] },
];

type Reading = Pick<Context, 'read' | 'client'>;

/** `releaseVersion`: of the ConfigMap with the boot images. */
export async function readRelease(
  releaseVersion: string,
  options: PoolOsOptions,
  { read, client }: Reading,
): Promise<ReleaseFacts> {
  const whole: Read = (resource, which = { as: 'full' }) => read(resource, which);
  const poolOf = (name: string) => progressOf(read(machineConfigPools).get(name), options, { read: whole, client });
  return {
    releaseVersion,
    sources: sourcesIn(whole, options).filter(({ says }) => says !== ''),
    streams: streamsIn(read),
    master: await poolOf('master'),
    worker: await poolOf('worker'),
  };
}

function sourcesIn(read: Read, { namespace }: PoolOsOptions): ReleaseSource[] {
  const osImages = read(configMaps).get(`${namespace}/${osImagesConfigMap}`)?.data?.['releaseVersion'] ?? '';
  return [
    { what: 'status.desired.version of ClusterVersion version', says: desiredIn(read)?.version ?? '' },
    { what: `releaseVersion of ConfigMap ${osImagesConfigMap}`, says: osImages.trim() },
  ];
}

function streamsIn(read: Read): ReleaseFacts['streams'] {
  const madeFrom = streamObjectIn(read)?.metadata.annotations?.[releasePayloadImageAnnotation] ?? '';
  const wanted = desiredIn(read)?.image ?? '';
  return madeFrom === '' || wanted === '' ? null : { madeFrom, wanted };
}

const desiredIn = (read: Read) => read(clusterVersions).get('version')?.status?.desired;

async function progressOf(
  pool: MachineConfigPool | undefined,
  options: PoolOsOptions,
  reading: Reading,
): Promise<PoolProgress | null> {
  if (pool === undefined) return null;
  const { name, generation, annotations } = pool.metadata;
  const { machineCount = 0, updatedMachineCount = 0, observedGeneration } = pool.status ?? {};
  // Where a person holds a pool at another config, machines go there, and are counted there.
  const config = annotations?.[targetConfigAnnotation] ?? pool.spec.configuration?.name ?? null;
  return {
    name,
    machineCount,
    updatedMachineCount,
    isObserved: observedGeneration === generation,
    config,
    os: await osOf(pool, config, options, reading),
  };
}

async function osOf(
  pool: MachineConfigPool,
  config: string | null,
  options: PoolOsOptions,
  { read, client }: Reading,
): Promise<PoolOsProgress> {
  const given = selectMachineConfigs(pool, read(machineConfigs).values());
  if (given.some(({ spec }) => (spec?.osImageURL ?? '') !== '')) return { type: 'unmanaged' };
  const wanted = wantedImage(pool, options, read);
  if (wanted === null) return { type: 'undecided' };
  if (wanted === '') return { type: 'unmanaged' };
  // Not out of a cache: rendered configs are large, and nobody keeps them whole.
  const rendered = config === null ? undefined : await client.find(machineConfigs, { name: config });
  return { type: 'managed', wanted, rendered: rendered === undefined ? null : (rendered.spec?.osImageURL ?? '') };
}

/** '': nobody manages it; null: nobody has said yet. A pool is about to take the image that its stream has in this release. */
function wantedImage(pool: MachineConfigPool, options: PoolOsOptions, read: Read): string | null {
  const os = poolOsOf(pool, options, read);
  if (os === null) return null;
  const object = streamObjectIn(read);
  const available = object === undefined ? [] : (streamsOf(object)?.available ?? []);
  const stream = os.osStream === null ? undefined : findStream(available, os.osStream.name);
  return stream?.osImage ?? os.osImages.osImageURL ?? '';
}
