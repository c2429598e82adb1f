import { clusterOperators, type OSImageStream, osImageStreams, secrets } from '@slipway/api';
import { canonicalJson, type CodedProblem, formatProblem } from '@slipway/fleet';
import {
  digestOf,
  discoverStreams,
  type Discovery,
  hasSources,
  isMadeFrom,
  type NextStreamObject,
  nextStreamObject,
  readSources,
  type StreamSources,
  type WantedStreamObject,
} from '@slipway/fleet/stream-discovery';
import {
  again,
  type Client,
  type Context,
  type ControllerDef,
  done,
  isKubeError,
  type Next,
  type Read,
  type Stored,
} from '@slipway/kube';
import { isRegistryError } from '@slipway/registry';
import { osStreamsGate } from '../feature-gates.ts';
import {
  CLUSTER,
  clusterVersionSource,
  osImagesSource,
  osImageStreamSource,
  pullSecretSource,
  sourcesIn,
  streamObjectIn,
} from '../sources.ts';
import { type OsStreamsOptions, usualPullSecret } from './options.ts';
import { createRetryPace, type RetryPace } from './options.ts';
import { digestOfPullSecret, type KeptRegistry } from './registry.ts';
import { degradedBy, OPERATOR, operatorSource, sayOnOperator } from './upgradeable-controller.ts';

// OSImageStream `cluster`, in as many writes as it takes, in an order that a kill between two of them does not harm.

const fieldManager = 'slipway-os-streams';

/** Gives what was written last; undefined: it was as wanted. */
async function writeStreamObject(
  current: Stored<OSImageStream> | undefined,
  wanted: WantedStreamObject,
  client: Client,
): Promise<Stored<OSImageStream> | undefined> {
  if (current === undefined) return patchStatus(await create(wanted, client), wanted, client);
  // Status first: a default in spec must be one of the streams of the status. And the digest of the sources comes with the
  // last write: until then all of it is done again.
  const withStatus = isEqual(current.status, wanted.status) ? undefined : await patchStatus(current, wanted, client);
  const before = withStatus ?? current;
  return hasRest(before, wanted) ? withStatus : patchRest(before, wanted, client);
}

/** Without status it counts for nothing, whatever its annotations say. */
function create({ spec, annotations }: WantedStreamObject, client: Client): Promise<Stored<OSImageStream>> {
  const kept = Object.fromEntries(
    Object.entries(annotations).filter((entry): entry is [string, string] => entry[1] !== null),
  );
  return client.create(osImageStreams, { metadata: { name: CLUSTER, annotations: kept }, spec }, { fieldManager });
}

function patchStatus(
  { metadata }: Stored<OSImageStream>,
  { status }: WantedStreamObject,
  client: Client,
): Promise<Stored<OSImageStream>> {
  const { uid, resourceVersion } = metadata;
  // A merge patch puts a list whole in place of the old one.
  const patch = { type: 'merge', body: { status } } as const;
  return client.patch(
    osImageStreams,
    metadata,
    patch,
    { uid, resourceVersion },
    { subresource: 'status', fieldManager },
  );
}

function patchRest(
  { metadata }: Stored<OSImageStream>,
  { spec, annotations }: WantedStreamObject,
  client: Client,
): Promise<Stored<OSImageStream>> {
  const { uid, resourceVersion } = metadata;
  const patch = { type: 'merge', body: { metadata: { annotations }, spec } } as const;
  return client.patch(osImageStreams, metadata, patch, { uid, resourceVersion }, { fieldManager });
}

const hasRest = ({ metadata, spec }: Stored<OSImageStream>, wanted: WantedStreamObject): boolean =>
  spec.defaultStream === wanted.spec.defaultStream &&
  Object.entries(wanted.annotations).every(([key, value]) => (metadata.annotations?.[key] ?? null) === value);

const isEqual = (a: unknown, b: unknown): boolean => canonicalJson(a ?? null) === canonicalJson(b ?? null);

// Keeps OSImageStream `cluster` as the release payload says. While what it is made from is the same, no registry is asked and
// nothing is written.

/** Until one that is being deleted is gone, or our cache has seen what we wrote. */
const LOOK_AGAIN_MS = 1000;

export function osStreamsController(options: OsStreamsOptions, registries: KeptRegistry): ControllerDef {
  const { namespace, pullSecret = usualPullSecret } = options;
  const pace = createRetryPace(options.retry);
  const once = (): string[] => [CLUSTER];
  return {
    name: 'os-streams',
    gate: osStreamsGate,
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
    startsWith: [CLUSTER],
    listen: () => registries.close,
    async reconcile(_, context) {
      const sources = sourcesIn(context.read, options);
      const current = context.unsure
        ? await context.client.find(osImageStreams, { name: CLUSTER })
        : streamObjectIn(context.read);
      if (current?.metadata.deletionTimestamp !== undefined) return again(LOOK_AGAIN_MS);
      if (!hasSources(sources)) return settle([], context);
      return keep(current, sources, {
        context,
        options,
        registries,
        pace,
        secret: `${pullSecret.namespace}/${pullSecret.name}`,
      });
    },
  };
}

interface Parts {
  readonly context: Context;
  readonly options: OsStreamsOptions;
  readonly registries: KeptRegistry;
  readonly pace: RetryPace;
  readonly secret: string;
}

async function keep(current: Stored<OSImageStream> | undefined, sources: StreamSources, parts: Parts): Promise<Next> {
  const { context, options, pace } = parts;
  const sourcesDigest = digestOf(sources, options.controllerVersion);
  const isStatic = isMadeFrom(current, sourcesDigest);
  // What failed may do with another pull secret.
  const attempt = `${sourcesDigest} ${digestOfPullSecret(context.read(secrets).get(parts.secret))}`;
  const wait = isStatic ? 0 : pace.waitFor(attempt, context.now().getTime());
  if (wait > 0) return again(wait);
  const discovery = isStatic ? null : await discover(sources, parts);
  const next = nextStreamObject({ current, discovery, sourcesDigest, releaseImage: releaseImageOf(sources) });
  const written = await write(next, current, context);
  if (written === 'behind') return again(LOOK_AGAIN_MS);
  tell(discovery, next, written ?? current, context);
  await settle(next.problems, context);
  const isWhole = isStatic || isMadeFrom(written ?? current, sourcesDigest);
  if (!isWhole) return again(pace.failed(attempt, context.now().getTime()));
  pace.succeeded();
  return done();
}

async function discover(sources: StreamSources, { context, registries, secret }: Parts): Promise<Discovery> {
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
  { client, log }: Context,
): Promise<Stored<OSImageStream> | undefined | 'behind'> {
  if (next.type === 'leave') return undefined;
  try {
    const written = await writeStreamObject(current, next.wanted, client);
    const { availableStreams, defaultStream } = next.wanted.status;
    const streams = availableStreams.map(({ name }) => name);
    if (written !== undefined) log.info({ streams, defaultStream }, 'wrote OSImageStream cluster');
    return written;
  } catch (error) {
    if (isKubeError(error, 'SLW_KUBE_ALREADY_EXISTS')) return 'behind';
    throw error;
  }
}

/** What was found on the way, and what did not work: in the log, and on the object where there is one. */
function tell(
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

async function settle(problems: readonly CodedProblem[], { read, client, now }: Context): Promise<Next> {
  await sayOnOperator(operatorIn(read), degradedBy(problems), client, now());
  return done();
}

const operatorIn = (read: Read) => read(clusterOperators).get(OPERATOR);

const releaseImageOf = ({ release }: StreamSources): string | null =>
  release !== null && 'image' in release ? release.image : null;
