// Keeps OSImageStream `cluster` as the release payload says. While what it is made from is the same, no registry is asked and
// nothing is written.
import { clusterOperators, type OSImageStream, osImageStreams, secrets, SINGLETON_NAME } from '@slipway/api';
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
import { OS_STREAMS_GATE } from '../feature-gates.ts';
import {
  clusterVersionSource,
  osImagesSource,
  osImageStreamSource,
  pullSecretSource,
  readStreamSources,
  findStreamObject,
} from '../sources.ts';
import { createRetryBackoff, type OsStreamsOptions, type RetryBackoff, DEFAULT_PULL_SECRET } from './options.ts';
import { poolStreamsController } from './pool-streams-controller.ts';
import { computePullSecretDigest, keepRegistry, type KeptRegistry } from './registry.ts';
import {
  buildDegradedCondition,
  DEGRADED_REASON,
  OPERATOR,
  operatorSource,
  publishOnOperator,
  upgradeableController,
} from './upgradeable-controller.ts';

/** All that has to do with OS image streams and no more than that. Render and rollout follow what these write. */
export function osStreamsControllers(options: OsStreamsOptions): ControllerDef[] {
  const registries = keepRegistry(options.registry);
  return [
    osStreamsController(options, registries),
    poolStreamsController(options, registries),
    upgradeableController(options.gates),
  ];
}

/** Until one that is being deleted is gone, or our cache has seen what we wrote. */
const REQUEUE_MS = 1000;

function osStreamsController(options: OsStreamsOptions, registries: KeptRegistry): ControllerDef {
  const { namespace, pullSecret = DEFAULT_PULL_SECRET } = options;
  const pace = createRetryBackoff(options.retry);
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
    listen: () => registries.close,
    async reconcile(_, context) {
      const sources = readStreamSources(context.read, options);
      const current = context.unsure
        ? await context.client.find(osImageStreams, { name: SINGLETON_NAME })
        : findStreamObject(context.read);
      if (current?.metadata.deletionTimestamp !== undefined) return again(REQUEUE_MS);
      if (!hasSources(sources)) return publishProblems([], context);
      return reconcileStreams(current, sources, {
        context,
        options,
        registries,
        pace,
        secret: `${pullSecret.namespace}/${pullSecret.name}`,
      });
    },
  };
}

/** While the OSImageStream is there, admission holds pools to its streams. */
const withdraw: Gate['whenOff'] = async (context) => {
  const { client, write, log } = context;
  const object = await client.find(osImageStreams, { name: SINGLETON_NAME });
  if (object !== undefined && object.metadata.deletionTimestamp === undefined) {
    await write.remove(osImageStreams, anyVersion(object.metadata));
    log.info('the feature gate OSStreams is off: removed OSImageStream cluster');
  }
  // Upgradeable has a writer that works whether the gate is on or off.
  const operator = await client.find(clusterOperators, { name: OPERATOR });
  const isDegraded = operator?.status?.conditions?.some(
    ({ type, reason }) => type === 'Degraded' && reason === DEGRADED_REASON,
  );
  if (isDegraded === true) await publishOnOperator(operator, buildDegradedCondition([]), context);
};

interface StreamDeps {
  readonly context: Context;
  readonly options: OsStreamsOptions;
  readonly registries: KeptRegistry;
  readonly pace: RetryBackoff;
  readonly secret: string;
}

async function reconcileStreams(
  current: Stored<OSImageStream> | undefined,
  sources: StreamSources,
  parts: StreamDeps,
): Promise<Next> {
  const { context, options, pace } = parts;
  const sourcesDigest = digestSources(sources, options.controllerVersion);
  const isStatic = isMadeFrom(current, sourcesDigest);
  // What failed may do with another pull secret.
  const attempt = `${sourcesDigest} ${computePullSecretDigest(context.read(secrets).get(parts.secret))}`;
  const wait = isStatic ? 0 : pace.waitFor(attempt, context.now().getTime());
  if (wait > 0) return again(wait);
  const discovery = isStatic ? null : await discover(sources, parts);
  const next = nextStreamObject({ current, discovery, sourcesDigest, releaseImage: findReleaseImage(sources) });
  const written = await write(next, current, context);
  if (written === 'behind') return again(REQUEUE_MS);
  recordEvents(discovery, next, written ?? current, context);
  await publishProblems(next.problems, context);
  const isWhole = isStatic || isMadeFrom(written ?? current, sourcesDigest);
  if (!isWhole) return again(pace.failed(attempt, context.now().getTime()));
  pace.succeeded();
  return done();
}

async function discover(sources: StreamSources, { context, registries, secret }: StreamDeps): Promise<Discovery> {
  try {
    const registry = registries.of(context.read(secrets).get(secret));
    return discoverStreams(await readSources(sources, { registry, isRegistryError, signal: context.signal }));
  } catch (error) {
    context.signal.throwIfAborted();
    if (!isRegistryError(error)) throw error;
    const message = `Secret ${secret}: ${formatProblem(error)}`;
    return { found: [], version: null, notes: [{ code: 'SLW_STREAM_SOURCE_FAILED', message }] };
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
  if (typeof written === 'object') log.info({ streams, defaultStream }, 'wrote OSImageStream cluster');
  return written;
}

/** What was found on the way, and what did not work: in the log, and on the object where there is one. */
function recordEvents(
  discovery: Discovery | null,
  { problems }: NextStreamObject,
  object: Stored<OSImageStream> | undefined,
  { log, events }: Context,
): void {
  if (discovery === null) return;
  const others = problems.filter((problem) => !discovery.notes.some(({ message }) => message === problem.message));
  for (const { code, message } of [...discovery.notes, ...others]) {
    const isProblem = problems.some((problem) => problem.message === message);
    log.warn({ code }, message);
    if (object === undefined) continue;
    const kept = isProblem ? '. It is tried again; until it works, the streams stay as they are' : '';
    events.record(osImageStreams, object, {
      type: 'Warning',
      reason: isProblem ? 'OSImageStreamDegraded' : 'OSImageStreamNote',
      message: formatProblem({ code, message: `${message}${kept}` }),
    });
  }
}

async function publishProblems(problems: readonly CodedProblem[], context: Context): Promise<Next> {
  await publishOnOperator(context.read(clusterOperators).get(OPERATOR), buildDegradedCondition(problems), context);
  return done();
}

const findReleaseImage = ({ release }: StreamSources): string | null =>
  release !== null && 'image' in release ? release.image : null;

// OSImageStream `cluster`, in as many writes as it takes, in an order that a kill between two of them does not harm.

/** Gives what was written last; undefined: it was as wanted. */
async function writeStreamObject(
  current: Stored<OSImageStream> | undefined,
  { status, spec, annotations }: DesiredStreamObject,
  write: Writer,
): Promise<Stored<OSImageStream> | undefined | 'behind'> {
  if (current === undefined) {
    // Without status it counts for nothing, whatever its annotations say.
    const metadata = { name: SINGLETON_NAME, annotations: withoutNulls(annotations) };
    const created = await write.createIfAbsent(osImageStreams, { metadata, spec });
    return created === undefined ? 'behind' : write.patchStatus(osImageStreams, created, status);
  }
  // Status first: a default in spec must be one of the streams of the status. And the digest of the sources comes with the
  // last write: until then all of it is done again.
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
