// Records on each pool which OS image stream it follows, and the images of it. Render uses only this record, so that a
// change of the default, of a name or of the payload never changes the OS of a pool by accident.
import {
  clusterVersions,
  configMaps,
  type MachineConfigPool,
  machineConfigPools,
  machineConfigs,
  nodes,
  OS_IMAGES_CONFIG_MAP,
  osStreamAnnotation,
  osStreamImagesAnnotation,
  osStreamProblemAnnotation,
  secrets,
} from '@slipway/api';
import {
  detectDistribution,
  encodeProblems,
  followsWorker,
  formatProblem,
  type MissingImage,
  missingImage,
  needsImageLabels,
  selectPool,
  type PoolStream,
  type PoolStreamFacts,
  type RunsEvidence,
  detectRunningOs,
  type StreamImages,
  streamOfPool,
  type Streams,
  toStreams,
  trackedAnnotations,
  readTrackedStream,
} from '@slipway/fleet';
import { configMapPair, hasSources } from '@slipway/fleet/stream-discovery';
import {
  again,
  type Client,
  type Context,
  type ControllerDef,
  done,
  type Gate,
  type Next,
  type StoreReader,
  type Stored,
} from '@slipway/kube';
import { isRegistryError } from '@slipway/registry';
import { OS_STREAMS_GATE } from '../feature-gates.ts';
import { isDamaged } from '../pool-os.ts';
import {
  clusterVersionSource,
  everyPool,
  fleetNodes,
  osImagesSource,
  osImageStreamSource,
  pullSecretSource,
  readStreamSources,
  findStreamObject,
} from '../sources.ts';
import { createRetryBackoff, type OsStreamsOptions, type RetryBackoff, DEFAULT_PULL_SECRET } from './options.ts';
import type { KeptRegistry } from './registry.ts';

type Pool = Stored<MachineConfigPool>;

const WORKER = 'worker';
/** After these the OS counts as unknown, and does not change. */
const MAX_TRIES = 5;

export function poolStreamsController(options: OsStreamsOptions, registries: KeptRegistry): ControllerDef {
  const { namespace, pullSecret = DEFAULT_PULL_SECRET } = options;
  const backoffs = new Map<string, RetryBackoff>();
  const getBackoff = (pool: string): RetryBackoff => {
    const backoff = backoffs.get(pool) ?? createRetryBackoff(options.retry);
    backoffs.set(pool, backoff);
    return backoff;
  };
  return {
    name: 'pool-streams',
    gate: { name: OS_STREAMS_GATE, whenOff: forgetStreams },
    // The name of the OSImageStream controller, because existing pools have it as their field manager.
    fieldManager: 'slipway-os-streams',
    reads: [
      {
        resource: machineConfigPools,
        // Custom pools follow worker.
        keysOf: (pool, read) => (pool.metadata.name === WORKER ? everyPool(pool, read) : [pool.metadata.name]),
      },
      { ...osImageStreamSource, keysOf: everyPool },
      { ...fleetNodes, keysOf: () => [] },
      // Whether there is any source of streams.
      { ...osImagesSource(namespace), keysOf: everyPool },
      { ...clusterVersionSource, keysOf: everyPool },
      { ...pullSecretSource(pullSecret), keysOf: () => [] },
    ],
    owns: [{ resource: machineConfigPools }],
    listen: () => registries.close,
    async reconcile(name, context) {
      const pool = context.read(machineConfigPools).get(name);
      if (pool === undefined || pool.metadata.deletionTimestamp !== undefined) {
        backoffs.delete(name);
        return done();
      }
      const streams = resolveStreams(pool, options, context);
      // The OSImageStream triggers every pool once it exists.
      if (streams === null) return reportMissing(pool, findMissing(pool, options, context.read), context);
      const secret = `${pullSecret.namespace}/${pullSecret.name}`;
      const runs = await detectRunningStream(pool, streams, {
        context,
        options,
        registries,
        secret,
        pace: getBackoff(name),
      });
      if (runs !== null && 'waitMs' in runs) {
        await reportMissing(pool, { uninspected: runs.image }, context);
        return again(runs.waitMs);
      }
      const decision = streamOfPool({ ...readStreamFacts(pool, context.read), runs }, streams);
      if (decision.type === 'waits') return reportMissing(pool, 'worker has none', context);
      return applyDecision(pool, decision, context);
    },
  };
}

const annotations = [osStreamAnnotation, osStreamImagesAnnotation, osStreamProblemAnnotation] as const;

/** The records would be stale when the gate is turned on again. Then the running OS decides. */
const forgetStreams: Gate['whenOff'] = async ({ client, write, log, signal }) => {
  for await (const pool of client.list(machineConfigPools, { signal })) {
    const left = annotations.filter((key) => pool.metadata.annotations?.[key] !== undefined);
    if (left.length === 0) continue;
    const gone = Object.fromEntries(left.map((key) => [key, null]));
    await write.patch(machineConfigPools, pool, { metadata: { annotations: gone } });
    const { name } = pool.metadata;
    log.info({ pool: name }, 'the feature gate OSStreams is off: removed the OS image stream record of the pool');
  }
};

/** Null: wait. Without any source of streams, only a pool that requests one gets a result. */
function resolveStreams(pool: Pool, options: OsStreamsOptions, { read }: Context): Streams | null {
  const object = findStreamObject(read);
  const streams = object === undefined ? null : toStreams(object);
  if (streams !== null || pool.spec.osImageStream === undefined || hasSources(readStreamSources(read, options)))
    return streams;
  return { available: [], defaultStream: '', lifecycle: new Map() };
}

function readStreamFacts(pool: Pool, read: StoreReader): Omit<PoolStreamFacts, 'runs'> {
  const worker = followsWorker(pool)
    ? readTrackedStream(read(machineConfigPools).get(WORKER)?.metadata.annotations)
    : undefined;
  return {
    pool: pool.metadata.name,
    asked: pool.spec.osImageStream?.name ?? null,
    tracked: readTrackedStream(pool.metadata.annotations),
    worker,
  };
}

/** Without any source, pools have no OS images and are rendered without. A pool with recorded images keeps them. */
function findMissing(pool: Pool, options: OsStreamsOptions, read: StoreReader): MissingImage | null {
  const tracked = readTrackedStream(pool.metadata.annotations);
  const hasImages = tracked === null ? !hasSources(readStreamSources(read, options)) : !isDamaged(tracked);
  return hasImages ? null : 'no streams';
}

/** No event: most often it ends within a second. */
async function reportMissing(pool: Pool, why: MissingImage | null, { write, log }: Context): Promise<Next> {
  const problem = why === null ? null : missingImage(pool.metadata.name, why);
  const annotation = problem === null ? null : encodeProblems([problem]);
  if ((pool.metadata.annotations?.[osStreamProblemAnnotation] ?? null) === annotation) return done();
  await write.patch(machineConfigPools, pool, {
    metadata: { annotations: { [osStreamProblemAnnotation]: annotation } },
  });
  if (problem !== null) log.info({ code: problem.code }, problem.message);
  return done();
}

async function applyDecision(pool: Pool, decision: PoolStream, context: Context): Promise<Next> {
  const annotations = {
    ...trackedAnnotations(decision),
    [osStreamProblemAnnotation]: decision.type === 'refused' ? encodeProblems([decision.problem]) : null,
  };
  const before = pool.metadata.annotations ?? {};
  const changed = Object.entries(annotations).filter(([key, value]) => (before[key] ?? null) !== value);
  if (changed.length === 0) return done();
  await context.write.patch(machineConfigPools, pool, { metadata: { annotations: Object.fromEntries(changed) } });
  recordEvent(pool, decision, new Set(changed.map(([key]) => key)), context);
  return done();
}

function recordEvent(pool: Pool, decision: PoolStream, changed: ReadonlySet<string>, { events, log }: Context): void {
  const what = buildStreamEvent(pool.metadata.name, decision, changed);
  if (what === null) return;
  log[what.type === 'Warning' ? 'warn' : 'info']({ decision: decision.type }, what.message);
  events.record(machineConfigPools, pool, what);
}

type PoolStreamEvent = { type: 'Normal' | 'Warning'; reason: string; message: string };

/** Null: not worth an event, such as new images of the same stream. */
function buildStreamEvent(pool: string, decision: PoolStream, changed: ReadonlySet<string>): PoolStreamEvent | null {
  if (decision.type === 'refused') {
    return changed.has(osStreamProblemAnnotation)
      ? { type: 'Warning', reason: 'OSImageStreamInvalid', message: formatProblem(decision.problem) }
      : null;
  }
  if (decision.type === 'waits' || !changed.has(osStreamAnnotation)) return null;
  if (decision.type === 'frozen') {
    const message = `MachineConfigPool ${pool} stays on its current OS: ${frozenBecause[decision.because]}`;
    return { type: 'Warning', reason: 'OSImageStreamFrozen', message };
  }
  const message = `MachineConfigPool ${pool} follows the OS image stream ${decision.stream.name}: ${followedBecause[decision.because]}`;
  return { type: 'Normal', reason: 'OSImageStreamFollowed', message };
}

const frozenBecause = {
  removed: 'the release no longer contains its stream',
  unknown: 'its stream is unknown. Set spec.osImageStream.name to the stream that it should follow',
} as const;

const followedBecause = {
  asked: 'spec.osImageStream requests it',
  tracked: 'it already followed this stream',
  'follows worker': 'it uses the MachineConfigs of worker, and follows worker',
  'runs it': 'its machines run this stream',
  default: 'it is a new pool, and this is the default stream',
} as const;

// Detects what a pool without a recorded stream runs: the cluster is older than streams.

interface PoolStreamDeps {
  readonly context: Context;
  readonly options: OsStreamsOptions;
  readonly registries: KeptRegistry;
  readonly secret: string;
  readonly pace: RetryBackoff;
}

/** The image could not be inspected: when to try again. */
interface Uninspected {
  readonly image: string;
  readonly waitMs: number;
}

async function detectRunningStream(
  pool: Pool,
  streams: Streams,
  parts: PoolStreamDeps,
): Promise<PoolStreamFacts['runs'] | Uninspected> {
  const tracked = readTrackedStream(pool.metadata.annotations);
  if (tracked !== null && !isDamaged(tracked)) return null;
  const { context, options } = parts;
  const { read, client, signal } = context;
  const evidence = await collectEvidence(pool, streams, { read, client, signal, namespace: options.namespace });
  const image = selectImageToInspect(evidence);
  return image === null ? detectRunningOs(evidence) : detectStreamByLabels(evidence, image, parts);
}

async function detectStreamByLabels(
  evidence: RunsEvidence,
  image: string,
  parts: PoolStreamDeps,
): Promise<PoolStreamFacts['runs'] | Uninspected> {
  const { context, pace } = parts;
  const wait = pace.waitFor(image, context.now().getTime());
  if (wait > 0) return { image, waitMs: wait };
  const imageLabels = await readImageLabels(image, parts);
  const runs = detectRunningOs({ ...evidence, imageLabels });
  const isKnown = imageLabels !== null || runs?.stream !== null;
  if (isKnown || pace.failures(image) >= MAX_TRIES) return runs;
  return { image, waitMs: pace.failed(image, context.now().getTime()) };
}

async function readImageLabels(
  image: string,
  { context, registries, secret }: PoolStreamDeps,
): Promise<Readonly<Record<string, string>> | null> {
  try {
    const registry = registries.of(context.read(secrets).get(secret));
    return (await registry.inspect(image, { signal: context.signal })).labels;
  } catch (error) {
    context.signal.throwIfAborted();
    if (!isRegistryError(error)) throw error;
    context.log.warn({ err: error, image }, 'cannot inspect the OS image of a pool that is older than streams');
    return null;
  }
}

export interface EvidenceSources {
  readonly read: StoreReader;
  readonly client: Client;
  readonly namespace: string;
  readonly signal: AbortSignal;
}

/** Everything except the labels, which need a registry. */
async function collectEvidence(
  pool: Stored<MachineConfigPool>,
  streams: Streams,
  { read, client, namespace, signal }: EvidenceSources,
): Promise<RunsEvidence> {
  return {
    statusStream: pool.status?.osImageStream?.name ?? null,
    renderedImages: await readRenderedImages(pool, client, signal),
    imageLabels: null,
    nodeOsImages: listNodeOsImages(pool, read),
    distribution: detectDistribution(readPlatformVersion(read, namespace), streams.available),
    streams: streams.available,
    lastStreams: [],
  };
}

/** The image whose labels would identify the stream; null: no registry needs to be called. */
const selectImageToInspect = (evidence: RunsEvidence): string | null =>
  needsImageLabels(evidence) ? (evidence.renderedImages?.osImage ?? null) : null;

/** The images of the config that every machine has; the newest config may not have reached any. */
async function readRenderedImages(
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

function listNodeOsImages({ metadata }: MachineConfigPool, read: StoreReader): string[] {
  const pools = [...read(machineConfigPools).values()];
  return [...read(nodes).values()].flatMap((node) => {
    const chosen = selectPool(node.metadata, pools);
    return chosen.ok && chosen.pool === metadata.name ? [node.status?.nodeInfo?.osImage ?? ''] : [];
  });
}

function readPlatformVersion(read: StoreReader, namespace: string): string | null {
  const desired = read(clusterVersions).get('version')?.status?.desired.version;
  return desired ?? configMapPair(read(configMaps).get(`${namespace}/${OS_IMAGES_CONFIG_MAP}`)?.data)?.version ?? null;
}
