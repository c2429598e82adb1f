// The Secrets that store a snapshot. The index has no data: a metadata watch reveals the state of every snapshot.
import {
  type MachineConfig,
  type ObjectMeta,
  refreshAnnotation,
  remoteContentAnnotation,
  type Secret,
  secrets,
} from '@slipway/api';
import { sha256 } from '@slipway/base/hash';
import { decode, type Decoder, object, readableItems, string } from '@slipway/base/codec';
import { MAX_ANNOTATION } from '../problems.ts';
import { MAX_CHUNKS, unpackSnapshot } from '../render/pack-snapshot.ts';

/** On the Secrets; its value is `index` or `chunk`. */
export const REMOTE_CONTENT_LABEL = 'slipway.dev/remote-content';

export const indexAnnotations = {
  machineConfig: 'slipway.dev/machine-config',
  uid: 'slipway.dev/machine-config-uid',
  generation: 'slipway.dev/generation',
  refresh: 'slipway.dev/refresh',
  digest: 'slipway.dev/digest',
  chunks: 'slipway.dev/chunks',
  fetchedAt: 'slipway.dev/fetched-at',
  recoveredAt: 'slipway.dev/recovered-at',
  lost: 'slipway.dev/lost',
  problems: 'slipway.dev/problems',
  attempts: 'slipway.dev/attempts',
  retryAt: 'slipway.dev/retry-at',
} as const;

/** Identifies one fetch: one generation of one MachineConfig, and each refresh that its user requests. */
export interface SnapshotRequest {
  uid: string;
  generation: string;
  /** A hash, because the user's value may be long; `-` if there is none. */
  refresh: string;
}

export interface SnapshotProblem {
  code: string;
  field: string;
  message: string;
}

export type IndexOutcome =
  | { state: 'ready'; digest: string; chunks: number; fetchedAt: string }
  | { state: 'ready'; digest: string; chunks: number; recoveredAt: string }
  | { state: 'lost'; digest: string; message: string }
  | { state: 'failed'; problems: readonly SnapshotProblem[]; attempts: number; retryAt: string };

export function readSnapshotRequest({ metadata }: MachineConfig): SnapshotRequest {
  const refresh = metadata.annotations?.[refreshAnnotation];
  return {
    uid: metadata.uid ?? '',
    generation: String(metadata.generation ?? 0),
    refresh: refresh === undefined ? '-' : sha256(refresh).slice(0, 16),
  };
}

function isFor(index: Secret, { uid, generation, refresh }: SnapshotRequest): boolean {
  const found = index.metadata.annotations ?? {};
  return (
    found[indexAnnotations.uid] === uid &&
    found[indexAnnotations.generation] === generation &&
    found[indexAnnotations.refresh] === refresh
  );
}

export const indexName = (uid: string): string => `remote-content-${uid}`;
export const chunkName = (digest: string, number: number): string => `remote-content-${shortDigest(digest)}-${number}`;
export const shortDigest = (digest: string): string => digest.slice(0, 32);

export function indexMetadata(
  machineConfig: MachineConfig,
  outcome: IndexOutcome,
): Required<Pick<ObjectMeta, 'name' | 'labels' | 'annotations'>> {
  const { uid, generation, refresh } = readSnapshotRequest(machineConfig);
  return {
    name: indexName(uid),
    labels: { [REMOTE_CONTENT_LABEL]: 'index' },
    annotations: {
      [indexAnnotations.machineConfig]: machineConfig.metadata.name,
      [indexAnnotations.uid]: uid,
      [indexAnnotations.generation]: generation,
      [indexAnnotations.refresh]: refresh,
      ...outcomeAnnotations(outcome),
    },
  };
}

function outcomeAnnotations(outcome: IndexOutcome): Record<string, string> {
  if (outcome.state === 'failed') {
    return {
      [indexAnnotations.problems]: JSON.stringify(outcome.problems),
      [indexAnnotations.attempts]: String(outcome.attempts),
      [indexAnnotations.retryAt]: outcome.retryAt,
    };
  }
  const digest = { [indexAnnotations.digest]: outcome.digest };
  if (outcome.state === 'lost') return { ...digest, [indexAnnotations.lost]: outcome.message };
  return {
    ...digest,
    [indexAnnotations.chunks]: String(outcome.chunks),
    ...('fetchedAt' in outcome
      ? { [indexAnnotations.fetchedAt]: outcome.fetchedAt }
      : { [indexAnnotations.recoveredAt]: outcome.recoveredAt }),
  };
}

/** The digest that an index or a chunk is about. */
export function digestOf({ metadata }: Secret): string | undefined {
  return metadata.annotations?.[indexAnnotations.digest];
}

/** The number of chunks that an index or a chunk states; undefined: missing or invalid. */
export function readChunkCount({ metadata }: Secret): number | undefined {
  const text = metadata.annotations?.[indexAnnotations.chunks] ?? '';
  const chunks = /^[1-9]\d{0,3}$/.test(text) ? Number(text) : 0;
  return chunks >= 1 && chunks <= MAX_CHUNKS ? chunks : undefined;
}

/**
 * The last snapshot, recorded on the MachineConfig itself. Without it, a deleted index would look like one that never
 * existed, and its content, which may have changed, would be fetched again without a user request.
 */
export function rememberedValue({ uid, generation, refresh }: SnapshotRequest, digest: string): string {
  return `${uid}/${generation}/${refresh}/${digest}`;
}

/** The snapshot recorded on a MachineConfig, if it belongs to this object. */
export function remembered(machineConfig: MachineConfig): (SnapshotRequest & { digest: string }) | undefined {
  const value = machineConfig.metadata.annotations?.[remoteContentAnnotation] ?? '';
  const [uid = '', generation = '', refresh = '', digest = ''] = value.split('/');
  if (uid !== machineConfig.metadata.uid || !/^[0-9a-f]{64}$/.test(digest)) return undefined;
  return { uid, generation, refresh, digest };
}

// The remote content of a MachineConfig for other controllers: the state of its snapshot, and the snapshot itself.

export interface Snapshot {
  digest: string;
  chunks: number;
}

export type SnapshotState =
  | ({ state: 'ready' } & Snapshot)
  | { state: 'failed'; problems: SnapshotProblem[]; attempts: number; retryAt: string }
  | { state: 'pending' }
  | { state: 'lost'; digest: string; message: string };

/** For the current MachineConfig: a snapshot of an earlier generation or refresh does not count. */
export function readSnapshotState(machineConfig: MachineConfig, index: Secret | undefined): SnapshotState {
  if (index === undefined || !isFor(index, readSnapshotRequest(machineConfig))) return { state: 'pending' };
  const { [indexAnnotations.problems]: problems, [indexAnnotations.lost]: lost } = index.metadata.annotations ?? {};
  const digest = digestOf(index);
  const chunks = readChunkCount(index);
  if (problems !== undefined) return failedState(index, problems);
  if (digest === undefined) return { state: 'pending' };
  if (lost !== undefined) return { state: 'lost', digest, message: lost };
  return chunks === undefined ? { state: 'pending' } : { state: 'ready', digest, chunks };
}

function failedState({ metadata }: Secret, problems: string): SnapshotState {
  const { [indexAnnotations.attempts]: attempts = '', [indexAnnotations.retryAt]: retryAt = '' } =
    metadata.annotations ?? {};
  return { state: 'failed', problems: readProblems(problems), attempts: Number.parseInt(attempts, 10) || 1, retryAt };
}

/** Users can edit annotations, so invalid JSON must not break the reader. */
function readProblems(text: string): SnapshotProblem[] {
  const decoded = decode(readableItems(problem), text, { maxChars: MAX_ANNOTATION });
  return decoded.ok ? decoded.value : [];
}

const problem: Decoder<SnapshotProblem> = object({ code: string(), field: string(), message: string() });

/** Reads a Secret, for example with a cluster client. */
export interface SecretReader {
  find(
    resource: typeof secrets,
    name: { namespace: string; name: string },
    options: { signal?: AbortSignal | undefined },
  ): Promise<Secret | undefined>;
}

export type Loaded = { ok: true; config: unknown } | { ok: false; lost: true; message: string };

/** The resolved config of a ready snapshot, checked against its digest. */
export async function loadSnapshot(
  client: SecretReader,
  namespace: string,
  { digest, chunks }: Snapshot,
  signal?: AbortSignal,
): Promise<Loaded> {
  if (chunks > MAX_CHUNKS) return lost(`expected at most ${MAX_CHUNKS} chunks, found ${chunks}`);
  const parts: Uint8Array[] = [];
  for (let number = 0; number < chunks; number += 1) {
    const name = chunkName(digest, number);
    const secret = await client.find(secrets, { namespace, name }, { signal });
    const data = secret?.data?.['chunk'];
    if (data === undefined) return lost(`Secret ${namespace}/${name} with one of its chunks is missing`);
    parts.push(Buffer.from(data, 'base64'));
  }
  const unpacked = await unpackSnapshot(digest, parts);
  if (unpacked.ok) return unpacked;
  return lost(
    `Secret ${namespace}/${chunkName(digest, 0)} or one of those that follow it is damaged: ${unpacked.problem}`,
  );
}

const lost = (why: string): Loaded => ({ ok: false, lost: true, message: lostMessage(why) });

/** Why the snapshot is lost, and what to do: a user must decide to fetch again, because the content may have changed. */
function lostMessage(why: string): string {
  return `the stored remote content is lost: ${why}. Slipway does not fetch it again automatically, because it may have changed. To fetch the current content, set the annotation slipway.dev/refresh-remote-content of the MachineConfig to a new value`;
}
