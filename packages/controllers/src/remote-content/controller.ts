// Fetches the URLs of MachineConfigs once, stores the content in Secrets, and deletes what no MachineConfig needs.
import { createKeyedQueue, type KeyedQueue } from '@slipway/base/concurrency';
import {
  type MachineConfig,
  machineConfigs,
  poolLabel,
  remoteContentAnnotation,
  RENDERED_PREFIX,
  type Secret,
  secrets,
} from '@slipway/api';
import { needsRemoteContent, type PackedSnapshot, packSnapshot } from '@slipway/fleet';
import {
  contentLimits,
  digestOf,
  indexName,
  type IndexOutcome,
  loadSnapshot,
  nextStep,
  recoverSnapshot,
  remembered,
  REMOTE_CONTENT_LABEL,
  readSnapshotRequest,
  resolveContent,
  retryDelayMs,
  shortDigest,
  type SnapshotState,
  readSnapshotState,
  type Step,
} from '@slipway/fleet/remote-content';
import type { Fetcher, HostPolicy, ResolveLimits } from '@slipway/ignition';
import { again, type Context, type ControllerDef, done, type Key, type Next, type Stored } from '@slipway/kube';
import { sourceMachineConfigs } from '../sources.ts';
import { createFetcher } from './fetch.ts';
import {
  countChunks,
  formatChunksKey,
  findChunks,
  parseChunksKey,
  hasChunks,
  findIndexes,
  findIndexesByDigest,
  remoteContentSecrets,
} from './secrets-source.ts';
import { deleteSecret, storeChunks, writeIndex } from './snapshot-store.ts';

export interface RemoteContentOptions {
  /** Slipway's namespace, where the snapshots are stored. */
  namespace: string;
  fetch?: Fetcher | undefined;
  /** Allowed sources of content. By default any host, except loopback, link-local and metadata addresses. */
  hosts?: HostPolicy | undefined;
  limits?: Partial<ResolveLimits> | undefined;
}

interface Settings {
  namespace: string;
  fetch: Fetcher;
  hosts: HostPolicy;
  limits: ResolveLimits;
  /**
   * By digest. Two MachineConfigs with the same content share its chunks: between the write of the chunks and the write
   * of their index, they must not be deleted for another MachineConfig that no longer needs them.
   */
  inTurn: KeyedQueue;
}

/** The input of one run. */
interface Task {
  machineConfig: Stored<MachineConfig>;
  index: Stored<Secret> | undefined;
  context: Context;
  settings: Settings;
}

/** One hanging server must not block the others. Each worker's memory is bounded by the limits. */
const WORKERS = 4;
/** The time to pack and write, in addition to the fetch. */
const WRITING_MS = 60_000;

/** Fetches the URLs of MachineConfigs once and stores the content. Fetches again only when a user requests it. */
export function remoteContentController(options: RemoteContentOptions): ControllerDef {
  const { namespace, fetch = createFetcher(), hosts = {} } = options;
  const limits = { ...contentLimits, ...options.limits };
  const settings: Settings = { namespace, fetch, hosts, limits, inTurn: createKeyedQueue() };
  return {
    name: 'remote-content',
    reads: [{ ...sourceMachineConfigs, keysOf: keysOfMachineConfig }, remoteContentSecrets(namespace)],
    owns: [{ resource: secrets }, { resource: machineConfigs }],
    workers: WORKERS,
    timeLimitMs: limits.timeMs + WRITING_MS,
    async reconcile(key, context) {
      const digest = parseChunksKey(key);
      if (digest === undefined) return reconcileMachineConfig(key, context, settings);
      await settings.inTurn(digest, () => collectChunks(context, namespace, digest));
      return done();
    },
  };
}

/** The MachineConfig, and the chunks that it references: when it references others, these may become unused. */
function keysOfMachineConfig(machineConfig: MachineConfig): Key[] {
  const digest = remembered(machineConfig)?.digest;
  return [machineConfig.metadata.name, ...(digest === undefined ? [] : [formatChunksKey(digest)])];
}

async function reconcileMachineConfig(name: string, context: Context, settings: Settings): Promise<Next> {
  const { read, write } = context;
  const machineConfig = read(machineConfigs).get(name);
  const wanted = machineConfig !== undefined && hasRemoteContent(machineConfig);
  const keep = wanted ? indexName(machineConfig.metadata.uid) : '';
  for (const index of findIndexes(read(secrets), name)) {
    if (index.metadata.name !== keep) await deleteSecret(write, index);
  }
  if (machineConfig === undefined) return done();
  if (!wanted) return remember(machineConfig, null, context);
  const index = read(secrets).get(`${settings.namespace}/${keep}`);
  return takeStep({ machineConfig, index, context, settings });
}

const hasRemoteContent = (machineConfig: MachineConfig): boolean =>
  !machineConfig.metadata.name.startsWith(RENDERED_PREFIX) && needsRemoteContent(machineConfig);

async function takeStep(task: Task): Promise<Next> {
  const step = decideStep(task);
  switch (step.do) {
    case 'nothing':
      return done();
    case 'wait':
      return again(step.ms);
    case 'remember':
      return remember(task.machineConfig, step.value, task.context);
    default:
      return takeLiveStep(task);
  }
}

/** The cache may lack our last write, and that must not cause a fetch that no user requested. */
async function takeLiveStep(task: Task): Promise<Next> {
  const { machineConfig, context, settings } = task;
  const name = indexName(machineConfig.metadata.uid);
  const index = await context.client.find(secrets, { namespace: settings.namespace, name });
  const live: Task = { ...task, index };
  const step = decideStep(live);
  if (step.do === 'fetch') return fetchContent(live, step.attempt);
  if (step.do === 'restore') return restoreSnapshot(live, step.digest);
  // The change that the cache lacked triggers the next run.
  return step.do === 'wait' ? again(step.ms) : done();
}

function decideStep({ machineConfig, index, context }: Task): Step {
  const store = context.read(secrets);
  return nextStep({
    machineConfig,
    index,
    hasChunks: (snapshot) => hasChunks(store, snapshot),
    now: context.now(),
  });
}

async function remember(machineConfig: Stored<MachineConfig>, value: string | null, { write }: Context): Promise<Next> {
  if (value === null && machineConfig.metadata.annotations?.[remoteContentAnnotation] === undefined) return done();
  await write.patch(machineConfigs, machineConfig, { metadata: { annotations: { [remoteContentAnnotation]: value } } });
  return done();
}

async function fetchContent(task: Task, attempt: number): Promise<Next> {
  const { machineConfig, context, settings } = task;
  const resolved = await resolveContent(machineConfig, settings, context.signal);
  // An aborted fetch is no evidence about the server.
  context.signal.throwIfAborted();
  const now = context.now();
  if (resolved.ok) {
    const packed = await packSnapshot(resolved.config);
    await saveSnapshot(task, packed, { fetchedAt: now.toISOString() });
    recordEvent(
      task,
      'Normal',
      'RemoteContentFetched',
      `Slipway fetched its remote content and stored it as ${packed.digest}`,
    );
    return done();
  }
  const { problems } = resolved;
  const delay = retryDelayMs(attempt);
  const retryAt = new Date(now.getTime() + delay).toISOString();
  await saveOutcome(task, { state: 'failed', problems, attempts: attempt, retryAt });
  const [first] = problems;
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : '';
  recordEvent(task, 'Warning', 'RemoteContentFailed', `${first?.message ?? ''}${more} [${first?.code ?? ''}]`);
  return again(delay);
}

/** Restores from the chunks if only the index is lost, else from rendered configs. */
async function restoreSnapshot(task: Task, digest: string): Promise<Next> {
  const { machineConfig, index, context, settings } = task;
  const chunks = countChunks(context.read(secrets), digest) ?? 1;
  const loaded = await loadSnapshot(context.client, settings.namespace, { digest, chunks });
  const state = readSnapshotState(machineConfig, index);
  // Nothing is missing: the cache was stale.
  if (loaded.ok && state.state === 'ready' && state.chunks === chunks) return done();
  const found = loaded.ok
    ? await packSnapshot(loaded.config)
    : await recoverSnapshot(machineConfig, digest, listRenderedConfigs(context));
  if (found !== undefined) {
    await saveSnapshot(task, found, { recoveredAt: context.now().toISOString() });
    recordEvent(task, 'Normal', 'RemoteContentRecovered', `Slipway recovered its lost remote content as ${digest}`);
  } else if (!loaded.ok) await reportLost(task, state, digest, loaded.message);
  return done();
}

async function reportLost(task: Task, before: SnapshotState, digest: string, message: string): Promise<void> {
  if (before.state === 'lost' && before.message === message) return;
  await saveOutcome(task, { state: 'lost', digest, message });
  recordEvent(task, 'Warning', 'RemoteContentLost', `${message} [SLW_REMOTE_CONTENT_LOST]`);
}

const listRenderedConfigs = ({ client }: Context): AsyncIterable<MachineConfig> =>
  client.list(machineConfigs, { labelSelector: poolLabel, pageSize: 10 });

async function saveSnapshot(
  task: Task,
  packed: PackedSnapshot,
  when: { fetchedAt: string } | { recoveredAt: string },
): Promise<void> {
  const { context, settings } = task;
  await settings.inTurn(shortDigest(packed.digest), async () => {
    const known = countChunks(context.read(secrets), packed.digest);
    const snapshot = await storeChunks(context, settings.namespace, packed, known);
    await saveOutcome(task, { state: 'ready', ...snapshot, ...when });
  });
}

const saveOutcome = ({ machineConfig, index, context, settings }: Task, outcome: IndexOutcome): Promise<void> =>
  writeIndex(context.write, settings.namespace, machineConfig, index, outcome);

function recordEvent(
  { machineConfig, context }: Task,
  type: 'Normal' | 'Warning',
  reason: string,
  message: string,
): void {
  const text = message.startsWith('MachineConfig ')
    ? message
    : `MachineConfig ${machineConfig.metadata.name}: ${message}`;
  context.events.record(machineConfigs, machineConfig, { type, reason, message: text });
  context.log[type === 'Normal' ? 'info' : 'warn']({ reason }, text);
}

// Deletes chunks that no MachineConfig needs.

/** Call it queued by digest: chunks, and the index that references them, are written in the same slot of the queue. */
async function collectChunks({ read, client, write, log }: Context, namespace: string, digest: string): Promise<void> {
  const store = read(secrets);
  const chunks = findChunks(store, digest);
  if (chunks.length === 0 || findIndexesByDigest(store, digest).length > 0) return;
  if ([...read(machineConfigs).values()].some((machineConfig) => remembers(machineConfig, digest))) return;
  // The index may be newer than the cache.
  for await (const index of client.list(secrets, { namespace, labelSelector: `${REMOTE_CONTENT_LABEL}=index` })) {
    if (hasDigest(index, digest)) return;
  }
  for (const chunk of chunks) await deleteSecret(write, chunk);
  log.info({ digest, chunks: chunks.length }, 'deleted an unused snapshot of remote content');
}

const hasDigest = (secret: Secret, digest: string): boolean =>
  shortDigest(digestOf(secret) ?? '') === shortDigest(digest);

/**
 * While a MachineConfig is unchanged, its last snapshot stays, even if the index is lost or records a failed refresh:
 * the index can then be rebuilt, or the refresh undone, without a fetch.
 */
function remembers(machineConfig: MachineConfig, digest: string): boolean {
  const known = remembered(machineConfig);
  if (known === undefined || known.generation !== readSnapshotRequest(machineConfig).generation) return false;
  return shortDigest(known.digest) === shortDigest(digest);
}
