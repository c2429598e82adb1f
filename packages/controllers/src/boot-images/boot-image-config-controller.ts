// Counts the changes of ConfigMap coreos-bootimages, records the images it contained, and stamps it once machines may
// follow it. A copy of the counter and of these images survives a client that recreates or replaces the ConfigMap.
import {
  BOOT_IMAGES_CONFIG_MAP,
  BOOT_IMAGES_COPY_CONFIG_MAP,
  clusterVersions,
  type ConfigMap,
  configMaps,
  type MachineConfigPool,
  machineConfigPools,
  machineConfigs,
  OS_IMAGES_CONFIG_MAP,
  releasePayloadImageAnnotation,
  SINGLETON_NAME,
  targetConfigAnnotation,
} from '@slipway/api';
import { findStream, selectMachineConfigs, toStreams } from '@slipway/fleet';
import {
  annotationSteps,
  continueAnnotations,
  KNOWN_IMAGES_ANNOTATION,
  nextKept,
  nextStamp,
  parseBootImageConfig,
  type PatchStep,
  patchSteps,
  type PoolOsProgress,
  type PoolProgress,
  readLastingAnnotations,
  readStamp,
  type ReleaseFacts,
  type ReleaseSource,
  type StampWrite,
  waitsFor,
} from '@slipway/fleet/boot-images';
import { type Context, type ControllerDef, done, type StoreReader, type Source, type Stored } from '@slipway/kube';
import { resolvePoolOs, type PoolOsOptions } from '../pool-os.ts';
import {
  clusterVersionSource,
  sourceMachineConfigs,
  osImagesSource,
  osImageStreamSource,
  findStreamObject,
} from '../sources.ts';
import { BOOT_IMAGES_GATE, type BootImagesOptions, FIELD_MANAGER, goldenSource } from './sources.ts';

const once = (): string[] => [SINGLETON_NAME];

export function goldenConfigController(options: BootImagesOptions): ControllerDef {
  const { namespace } = options;
  /** The resourceVersion that needs no further work. */
  let settled: string | undefined;
  return {
    name: 'boot-images-config',
    gate: BOOT_IMAGES_GATE,
    fieldManager: FIELD_MANAGER,
    reads: [
      // Metadata only: a full watch would share a store with the ConfigMap of OS images. The data is read on demand.
      { ...goldenSource(namespace), as: 'metadata', keysOf: once },
      ...releaseSources(options, once),
    ],
    owns: [{ resource: configMaps }],
    startsWith: [SINGLETON_NAME],
    async reconcile(_, context) {
      const seen = context.read(configMaps, { as: 'metadata' }).get(`${namespace}/${BOOT_IMAGES_CONFIG_MAP}`);
      if (seen === undefined || seen.metadata.resourceVersion === settled) return done();
      const configMap = await context.client.find(configMaps, { namespace, name: BOOT_IMAGES_CONFIG_MAP });
      if (configMap === undefined) return done();
      if (await settleConfig(configMap, options, context)) settled = configMap.metadata.resourceVersion;
      return done();
    },
  };
}

/** Returns whether this version needs no further work. */
async function settleConfig(
  configMap: Stored<ConfigMap>,
  options: BootImagesOptions,
  context: Context,
): Promise<boolean> {
  const { namespace } = options;
  const parsed = parseBootImageConfig(configMap);
  // Every resource that needs the ConfigMap reports the problem. A fix triggers the next reconcile.
  if (!parsed.ok) return true;
  const { config } = parsed;
  const { data = {}, metadata } = configMap;
  const copy = await context.client.find(configMaps, { namespace, name: BOOT_IMAGES_COPY_CONFIG_MAP });
  const annotations = continueAnnotations(metadata.annotations ?? {}, copy?.metadata.annotations);
  const facts = { data, annotations, version: options.controllerVersion, now: context.now().getTime() };
  const isStamped = readStamp(facts).state.type === 'stamped';
  const write = isStamped
    ? null
    : nextStamp(facts, waitsFor(await readRelease(config.releaseVersion, options, context)));
  const known = nextKept(config, annotations[KNOWN_IMAGES_ANNOTATION]);
  const steps = buildPatchSteps(configMap, write, {
    ...annotations,
    ...(known !== '' && { [KNOWN_IMAGES_ANNOTATION]: known }),
  });
  if (steps.length > 0) {
    const { metadata: after } = await context.write.jsonPatch(configMaps, configMap, steps);
    await keepCopy(copy, after, context);
    context.log.info(write ?? {}, 'updated ConfigMap coreos-bootimages');
    return false;
  }
  await keepCopy(copy, metadata, context);
  return isStamped;
}

function buildPatchSteps(
  { data = {}, metadata }: Stored<ConfigMap>,
  write: StampWrite | null,
  annotations: Readonly<Record<string, string>>,
): PatchStep[] {
  const wanted = Object.entries({ ...data, ...write?.data });
  const kept = wanted.filter((entry): entry is [string, string] => entry[1] !== null);
  return [
    ...patchSteps(data, Object.fromEntries(kept), '/data'),
    ...annotationSteps(metadata.annotations, { ...annotations, ...write?.annotations }),
  ];
}

/** After the ConfigMap itself: a kill in between is made up for in the next run. */
async function keepCopy(
  copy: Stored<ConfigMap> | undefined,
  { namespace = '', annotations }: Stored<ConfigMap>['metadata'],
  { write }: Context,
): Promise<void> {
  const wanted = readLastingAnnotations(annotations);
  if (copy === undefined) {
    const metadata = { namespace, name: BOOT_IMAGES_COPY_CONFIG_MAP, annotations: wanted };
    await write.createIfAbsent(configMaps, { metadata });
    return;
  }
  const steps = annotationSteps(copy.metadata.annotations, wanted);
  if (steps.length > 0) await write.jsonPatch(configMaps, copy, steps);
}

// Which release the cluster is at, and how far its machines are.

/** Of ConfigMaps, only the one with the OS images may be read in full; the others only as metadata. */
const releaseSources = ({ namespace }: PoolOsOptions, keysOf: () => string[]): readonly Source[] => [
  { resource: machineConfigPools, keysOf },
  { ...osImagesSource(namespace), keysOf },
  { ...osImageStreamSource, keysOf },
  { ...clusterVersionSource, keysOf },
  { ...sourceMachineConfigs, keysOf: () => [] },
];

type ReadContext = Pick<Context, 'read' | 'client'>;

/** `releaseVersion` is that of the ConfigMap with the boot images. */
async function readRelease(
  releaseVersion: string,
  options: PoolOsOptions,
  { read, client }: ReadContext,
): Promise<ReleaseFacts> {
  const whole: StoreReader = (resource, which = { as: 'full' }) => read(resource, which);
  const readPoolByName = (name: string) =>
    readPoolProgress(read(machineConfigPools).get(name), options, { read: whole, client });
  return {
    releaseVersion,
    sources: listReleaseSources(whole, options).filter(({ says }) => says !== ''),
    streams: readReleaseStreams(read),
    master: await readPoolByName('master'),
    worker: await readPoolByName('worker'),
  };
}

function listReleaseSources(read: StoreReader, { namespace }: PoolOsOptions): ReleaseSource[] {
  const osImages = read(configMaps).get(`${namespace}/${OS_IMAGES_CONFIG_MAP}`)?.data?.['releaseVersion'] ?? '';
  return [
    { what: 'status.desired.version of ClusterVersion version', says: readDesiredRelease(read)?.version ?? '' },
    { what: `releaseVersion of ConfigMap ${OS_IMAGES_CONFIG_MAP}`, says: osImages.trim() },
  ];
}

function readReleaseStreams(read: StoreReader): ReleaseFacts['streams'] {
  const madeFrom = findStreamObject(read)?.metadata.annotations?.[releasePayloadImageAnnotation] ?? '';
  const wanted = readDesiredRelease(read)?.image ?? '';
  return madeFrom === '' || wanted === '' ? null : { madeFrom, wanted };
}

const readDesiredRelease = (read: StoreReader) => read(clusterVersions).get('version')?.status?.desired;

async function readPoolProgress(
  pool: MachineConfigPool | undefined,
  options: PoolOsOptions,
  reading: ReadContext,
): Promise<PoolProgress | null> {
  if (pool === undefined) return null;
  const { name, generation, annotations } = pool.metadata;
  const { machineCount = 0, updatedMachineCount = 0, observedGeneration } = pool.status ?? {};
  // Where a user holds a pool at another config, machines move to that config and are counted by it.
  const config = annotations?.[targetConfigAnnotation] ?? pool.spec.configuration?.name ?? null;
  return {
    name,
    machineCount,
    updatedMachineCount,
    isObserved: observedGeneration === generation,
    config,
    os: await readPoolOsProgress(pool, config, options, reading),
  };
}

async function readPoolOsProgress(
  pool: MachineConfigPool,
  config: string | null,
  options: PoolOsOptions,
  { read, client }: ReadContext,
): Promise<PoolOsProgress> {
  const given = selectMachineConfigs(pool, read(machineConfigs).values());
  if (given.some(({ spec }) => (spec?.osImageURL ?? '') !== '')) return { type: 'unmanaged' };
  const wanted = resolveDesiredImage(pool, options, read);
  if (wanted === null) return { type: 'undecided' };
  if (wanted === '') return { type: 'unmanaged' };
  // A live read: rendered configs are large, and no cache stores them in full.
  const rendered = config === null ? undefined : await client.find(machineConfigs, { name: config });
  return { type: 'managed', wanted, rendered: rendered === undefined ? null : (rendered.spec?.osImageURL ?? '') };
}

/**
 * '' means unmanaged, null means not decided yet. A pool follows the image that its stream has in this release.
 */
function resolveDesiredImage(pool: MachineConfigPool, options: PoolOsOptions, read: StoreReader): string | null {
  const os = resolvePoolOs(pool, options, read);
  if (os === null) return null;
  const object = findStreamObject(read);
  const available = object === undefined ? [] : (toStreams(object)?.available ?? []);
  const stream = os.osStream === null ? undefined : findStream(available, os.osStream.name);
  return stream?.osImage ?? os.osImages.osImageURL ?? '';
}
