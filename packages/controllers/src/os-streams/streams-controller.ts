// Keeps OSImageStream `cluster` in line with the release payload. While its sources are unchanged, it calls no registry
// (except every ten minutes for images that are specified by tag) and writes nothing.
import {
  clusterOperators,
  type OSImageStream,
  osImageStreams,
  secrets,
  SINGLETON_NAME,
  streamMarksAnnotation,
} from '@slipway/api';
import { isEqual } from '@slipway/base/equal';
import { type CodedProblem, formatProblem } from '@slipway/fleet';
import {
  digestSources,
  discoverStreams,
  type Discovery,
  hasSources,
  isMadeFrom,
  type NextStreamObject,
  nextStreamObject,
  readSources,
  resolveTags,
  sourcePrecedence,
  type StreamSources,
  type DesiredStreamObject,
} from '@slipway/fleet/stream-discovery';
import {
  again,
  anyVersion,
  type Context,
  type ControllerDef,
  done,
  type Gate,
  type Next,
  type Stored,
  type Writer,
} from '@slipway/kube';
import { isRegistryError } from '@slipway/registry';
import { OPERATOR, operatorSource, publishOnOperator, STREAMS_DEGRADED } from '../cluster-operator.ts';
import { OS_STREAMS_GATE } from '../feature-gates.ts';
import {
  clusterVersionSource,
  osImagesSource,
  osImageStreamSource,
  pullSecretSource,
  readStreamSources,
  findStreamObject,
} from '../sources.ts';
import { createStreamMetrics, type StreamMetrics } from './metrics.ts';
import {
  createRetryBackoff,
  DEFAULT_PULL_SECRET,
  DEFAULT_TAG_INTERVAL_MS,
  type OsStreamsOptions,
  type RetryBackoff,
} from './options.ts';
import { poolStreamsController } from './pool-streams-controller.ts';
import {
  computePullSecretDigest,
  createTagReader,
  keepRegistry,
  type KeptRegistry,
  type TagReader,
} from './registry.ts';
import { buildStreamsCondition, upgradeableController } from './upgradeable-controller.ts';

/** Everything that is only about OS image streams. Render and rollout follow what these write. */
export function osStreamsControllers(options: OsStreamsOptions): ControllerDef[] {
  const registries = keepRegistry(options.registry);
  const metrics = options.metrics === undefined ? undefined : createStreamMetrics(options.metrics);
  return [
    osStreamsController(options, registries, metrics),
    poolStreamsController(options, registries),
    upgradeableController(options.gates, metrics),
  ];
}

/** Until an object that is being deleted is gone, or the cache has our write. */
const REQUEUE_MS = 1000;

function osStreamsController(
  options: OsStreamsOptions,
  registries: KeptRegistry,
  metrics: StreamMetrics | undefined,
): ControllerDef {
  const { namespace, pullSecret = DEFAULT_PULL_SECRET } = options;
  const pace = createRetryBackoff(options.retry);
  const tags = createTagReader(options.tagIntervalMs ?? DEFAULT_TAG_INTERVAL_MS);
  const once = (): string[] => [SINGLETON_NAME];
  return {
    name: 'os-streams',
    gate: { name: OS_STREAMS_GATE, whenOff: withdraw },
    reads: [
      osImageStreamSource,
      { ...osImagesSource(namespace), keysOf: once },
      { ...clusterVersionSource, keysOf: once },
      { ...pullSecretSource(pullSecret), keysOf: once },
      { ...operatorSource, keysOf: () => [] },
    ],
    owns: [
      { resource: osImageStreams },
      { resource: osImageStreams, subresource: 'status' },
      { resource: clusterOperators },
      { resource: clusterOperators, subresource: 'status' },
    ],
    startsWith: [SINGLETON_NAME],
    listen: () => () => {
      registries.close();
      metrics?.reset();
    },
    async reconcile(_, context) {
      const sources = readStreamSources(context.read, options);
      const current = context.unsure
        ? await context.client.find(osImageStreams, { name: SINGLETON_NAME })
        : findStreamObject(context.read);
      if (current?.metadata.deletionTimestamp !== undefined) return again(REQUEUE_MS);
      if (!hasSources(sources)) return publishProblems([], context, metrics);
      return reconcileStreams(current, sources, {
        context,
        options,
        registries,
        metrics,
        pace,
        tags,
        secret: `${pullSecret.namespace}/${pullSecret.name}`,
      });
    },
  };
}

/** While the OSImageStream exists, admission restricts pools to its streams. */
const withdraw: Gate['whenOff'] = async (context) => {
  const { client, write, log } = context;
  const object = await client.find(osImageStreams, { name: SINGLETON_NAME });
  if (object !== undefined && object.metadata.deletionTimestamp === undefined) {
    await write.remove(osImageStreams, anyVersion(object.metadata));
    log.info('the feature gate OSStreams is off: deleted OSImageStream cluster');
  }
  // The Upgradeable condition has another writer, which works with the gate on or off.
  const operator = await client.find(clusterOperators, { name: OPERATOR });
  const isDegraded = operator?.status?.conditions?.some(
    ({ type, status }) => type === STREAMS_DEGRADED && status === 'True',
  );
  if (isDegraded === true) await publishOnOperator(operator, [buildStreamsCondition([])], context);
};

interface StreamDeps {
  readonly context: Context;
  readonly options: OsStreamsOptions;
  readonly registries: KeptRegistry;
  readonly metrics: StreamMetrics | undefined;
  readonly pace: RetryBackoff;
  readonly tags: TagReader;
  readonly secret: string;
}

async function reconcileStreams(
  current: Stored<OSImageStream> | undefined,
  named: StreamSources,
  parts: StreamDeps,
): Promise<Next> {
  const { context, options, pace, tags } = parts;
  const sources = await tags.read(named, context.now().getTime(), () => askForTags(named, parts));
  const marks = current?.metadata.annotations?.[streamMarksAnnotation] ?? '';
  const sourcesDigest = digestSources(sources, options.controllerVersion, marks);
  const isStatic = isMadeFrom(current, sourcesDigest);
  // A failure may succeed with another pull secret.
  const attempt = `${sourcesDigest} ${computePullSecretDigest(context.read(secrets).get(parts.secret))}`;
  const wait = isStatic ? 0 : pace.waitFor(attempt, context.now().getTime());
  if (wait > 0) return again(wait);
  const discovery = isStatic ? null : await discover(sources, parts);
  const next = nextStreamObject({ current, discovery, sourcesDigest, releaseImage: findReleaseImage(named) });
  const written = await write(next, current, context);
  if (written === 'behind') return again(REQUEUE_MS);
  recordEvents(discovery, next, written ?? current, context);
  await publishProblems(next.problems, context, parts.metrics);
  const isWhole = isStatic || isMadeFrom(written ?? current, sourcesDigest);
  if (!isWhole) return again(pace.failed(attempt, context.now().getTime()));
  pace.succeeded();
  const untilTags = tags.waitFor(named, context.now().getTime());
  return untilTags === null ? done() : again(untilTags);
}

/** What each tag stands for now. One that is missing has failed: discovery reports it, unless its last answer holds. */
async function askForTags(
  named: StreamSources,
  { context, registries, secret }: StreamDeps,
): Promise<ReadonlyMap<string, string>> {
  const { signal, log, read } = context;
  const warn = (error: unknown): void => {
    signal.throwIfAborted();
    if (!isRegistryError(error)) throw error;
    log.warn({ code: error.code }, `a tag of an OS image cannot be compared with its registry: ${error.message}`);
  };
  try {
    return await resolveTags(named, { registry: registries.of(read(secrets).get(secret)), signal, failed: warn });
  } catch (error) {
    warn(error);
    return new Map();
  }
}

async function discover(sources: StreamSources, { context, registries, secret }: StreamDeps): Promise<Discovery> {
  try {
    const registry = registries.of(context.read(secrets).get(secret));
    return discoverStreams(await readSources(sources, { registry, isRegistryError, signal: context.signal }));
  } catch (error) {
    context.signal.throwIfAborted();
    if (!isRegistryError(error)) throw error;
    const message = `Secret ${secret}: ${formatProblem(error)}`;
    const notes = [{ code: 'SLW_STREAM_SOURCE_FAILED', message } as const];
    return { found: [], version: null, notes, failed: sourcePrecedence };
  }
}

async function write(
  next: NextStreamObject,
  current: Stored<OSImageStream> | undefined,
  { write: writer, log }: Context,
): Promise<Stored<OSImageStream> | undefined | 'behind'> {
  if (next.type === 'leave') return undefined;
  const written = await writeStreamObject(current, next.wanted, writer);
  const { availableStreams, defaultStream } = next.wanted.status;
  const streams = availableStreams.map(({ name }) => name);
  if (typeof written === 'object') log.info({ streams, defaultStream }, 'updated OSImageStream cluster');
  return written;
}

/** Logs notes and problems, and records them as events if the object exists. */
function recordEvents(
  discovery: Discovery | null,
  next: NextStreamObject,
  object: Stored<OSImageStream> | undefined,
  { log, events }: Context,
): void {
  if (discovery === null) return;
  const isPublished = (code: string): boolean => next.type === 'leave' || code === 'SLW_STREAM_SOURCE_FAILED';
  const notes = discovery.notes.filter(({ code }) => !isPublished(code));
  const kept = next.type === 'leave' ? '. Slipway retries, and keeps the current streams until it succeeds' : '';
  const found = [
    ...notes.map(({ code, message }) => ({ code, message, isProblem: false })),
    ...next.problems.map(({ code, message }) => ({ code, message: message + kept, isProblem: true })),
  ];
  for (const { code, message, isProblem } of found) {
    log.warn({ code }, message);
    if (object === undefined) continue;
    events.record(osImageStreams, object, {
      type: 'Warning',
      reason: isProblem ? 'OSImageStreamDegraded' : 'OSImageStreamNote',
      message: formatProblem({ code, message }),
    });
  }
}

async function publishProblems(
  problems: readonly CodedProblem[],
  context: Context,
  metrics: StreamMetrics | undefined,
): Promise<Next> {
  metrics?.problems(problems);
  await publishOnOperator(context.read(clusterOperators).get(OPERATOR), [buildStreamsCondition(problems)], context);
  return done();
}

const findReleaseImage = ({ release }: StreamSources): string | null =>
  release !== null && 'image' in release ? release.image : null;

// Writes OSImageStream `cluster` in several writes, in an order that makes a kill between two of them harmless.

/** Returns what was written last; undefined if nothing differed. */
async function writeStreamObject(
  current: Stored<OSImageStream> | undefined,
  { status, spec, annotations }: DesiredStreamObject,
  write: Writer,
): Promise<Stored<OSImageStream> | undefined | 'behind'> {
  if (current === undefined) {
    // Without a status the object has no effect, whatever its annotations.
    const metadata = { name: SINGLETON_NAME, annotations: withoutNulls(annotations) };
    const created = await write.createIfAbsent(osImageStreams, { metadata, spec });
    return created === undefined ? 'behind' : write.patchStatus(osImageStreams, created, status);
  }
  // Status first: a default in spec must be one of the streams of the status. The digest of the sources is part of the
  // last write: until then everything is repeated.
  const withStatus = isEqual(current.status, status)
    ? undefined
    : await write.patchStatus(osImageStreams, current, status);
  const before = withStatus ?? current;
  if (hasRest(before, { spec, annotations })) return withStatus;
  return write.patch(osImageStreams, before, { metadata: { annotations }, spec });
}

const withoutNulls = (annotations: DesiredStreamObject['annotations']): Record<string, string> =>
  Object.fromEntries(Object.entries(annotations).filter((entry): entry is [string, string] => entry[1] !== null));

const hasRest = (
  { metadata, spec }: Stored<OSImageStream>,
  wanted: Pick<DesiredStreamObject, 'spec' | 'annotations'>,
): boolean =>
  spec.defaultStream === wanted.spec.defaultStream &&
  Object.entries(wanted.annotations).every(([key, value]) => (metadata.annotations?.[key] ?? null) === value);
