// Counts the changes of ConfigMap coreos-bootimages, remembers the images that were in it, and stamps it once it may be followed.
import { type ConfigMap, configMaps } from '@slipway/api';
import {
  annotationSteps,
  type BootImageConfig,
  knownImagesAnnotation,
  nextKept,
  nextStamp,
  parseBootImageConfig,
  type PatchStep,
  patchSteps,
  readStamp,
  type StampWrite,
  waitsFor,
} from '@slipway/fleet/boot-images';
import { type Context, type ControllerDef, done, type Stored } from '@slipway/kube';
import { BOOT_IMAGES, CLUSTER, goldenSource } from './boot-image-reads.ts';
import { bootImagesGate, type BootImagesOptions, fieldManager } from './options.ts';
import { readRelease, releaseSources } from './read-release.ts';

const once = (): string[] => [CLUSTER];

export function goldenConfigController(options: BootImagesOptions): ControllerDef {
  const { namespace } = options;
  /** The version of it about which nothing is left to do. */
  let settled: string | undefined;
  return {
    name: 'boot-images-config',
    gate: bootImagesGate,
    reads: [
      // That it has changed; what is in it is asked for. Two ConfigMaps cannot be told apart otherwise.
      { ...goldenSource(namespace), as: 'metadata', keysOf: once },
      ...releaseSources(options, once),
    ],
    owns: [{ resource: configMaps }],
    startsWith: [CLUSTER],
    async reconcile(_, context) {
      const seen = context.read(configMaps, { as: 'metadata' }).get(`${namespace}/${BOOT_IMAGES}`);
      if (seen === undefined || seen.metadata.resourceVersion === settled) return done();
      const configMap = await context.client.find(configMaps, { namespace, name: BOOT_IMAGES });
      if (configMap === undefined) return done();
      if (await isSettled(configMap, options, context)) settled = configMap.metadata.resourceVersion;
      return done();
    },
  };
}

/** Does what is left to do about it. */
async function isSettled(configMap: Stored<ConfigMap>, options: BootImagesOptions, context: Context): Promise<boolean> {
  const parsed = parseBootImageConfig(configMap);
  // What is wrong with it is told of every resource that needs it, and its change wakes us.
  if (!parsed.ok) return true;
  const { config } = parsed;
  const { data = {}, metadata } = configMap;
  const { annotations = {} } = metadata;
  const facts = { data, annotations, version: options.controllerVersion, now: context.now().getTime() };
  const isStamped = readStamp(facts).state.type === 'stamped';
  const write = isStamped
    ? null
    : nextStamp(facts, waitsFor(await readRelease(config.releaseVersion, options, context)));
  const steps = stepsOf(configMap, write, config);
  if (steps.length > 0) await patch(configMap, steps, write, context);
  return isStamped && steps.length === 0;
}

async function patch(
  { metadata }: Stored<ConfigMap>,
  body: readonly PatchStep[],
  write: StampWrite | null,
  { client, log }: Context,
): Promise<void> {
  const { uid, resourceVersion } = metadata;
  await client.patch(configMaps, metadata, { type: 'json', body }, { uid, resourceVersion }, { fieldManager });
  log.info(write ?? {}, 'wrote what is known of the boot images of the release');
}

function stepsOf(
  { data = {}, metadata }: Stored<ConfigMap>,
  write: StampWrite | null,
  config: BootImageConfig,
): PatchStep[] {
  const known = nextKept(config, metadata.annotations?.[knownImagesAnnotation]);
  const wanted = Object.entries({ ...data, ...write?.data });
  const kept = wanted.filter((entry): entry is [string, string] => entry[1] !== null);
  return [
    ...patchSteps(data, Object.fromEntries(kept), '/data'),
    ...annotationSteps(metadata.annotations, {
      ...write?.annotations,
      ...(known !== '' && { [knownImagesAnnotation]: known }),
    }),
  ];
}
