// The Secrets that a snapshot is kept in. The index has no data: a watch of metadata alone tells all about every snapshot.
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

/** What a fetch is made for, once: this MachineConfig, as it is now, and as often as its user asks for it. */
export interface SnapshotRequest {
  uid: string;
  generation: string;
  /** A hash: the user's value may be long. `-` where there is none. */
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

/** How many chunks its snapshot has, as an index or a chunk says; undefined where it says nothing that can be. */
export function readChunkCount({ metadata }: Secret): number | undefined {
  const text = metadata.annotations?.[indexAnnotations.chunks] ?? '';
  const chunks = /^[1-9]\d{0,3}$/.test(text) ? Number(text) : 0;
  return chunks >= 1 && chunks <= MAX_CHUNKS ? chunks : undefined;
}

/**
 * What the MachineConfig itself remembers of its last snapshot. Without it, an index that somebody deleted would look
 * like one that never was, and its content would be fetched again, perhaps changed, without anybody asking for it.
 */
export function rememberedValue({ uid, generation, refresh }: SnapshotRequest, digest: string): string {
  return `${uid}/${generation}/${refresh}/${digest}`;
}

/** The snapshot a MachineConfig remembers, if it is of this very object. */
export function remembered(machineConfig: MachineConfig): (SnapshotRequest & { digest: string }) | undefined {
  const value = machineConfig.metadata.annotations?.[remoteContentAnnotation] ?? '';
  const [uid = '', generation = '', refresh = '', digest = ''] = value.split('/');
  if (uid !== machineConfig.metadata.uid || !/^[0-9a-f]{64}$/.test(digest)) return undefined;
  return { uid, generation, refresh, digest };
}

// What others may know of a MachineConfig's remote content: the state of its snapshot, and the snapshot itself.

export interface Snapshot {
  digest: string;
  chunks: number;
}

export type SnapshotState =
  | ({ state: 'ready' } & Snapshot)
  | { state: 'failed'; problems: SnapshotProblem[]; attempts: number; retryAt: string }
  | { state: 'pending' }
  | { state: 'lost'; digest: string; message: string };

/** Of the MachineConfig as it is now: a snapshot of an earlier generation or refresh does not count. */
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

/** We wrote them; but an annotation can be edited by hand, and what reads it must not break. */
function readProblems(text: string): SnapshotProblem[] {
  const decoded = decode(readableItems(problem), text, { maxChars: MAX_ANNOTATION });
  return decoded.ok ? decoded.value : [];
}

const problem: Decoder<SnapshotProblem> = object({ code: string(), field: string(), message: string() });

/** What reads a Secret, such as the client of a cluster. */
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
  if (chunks > MAX_CHUNKS) return lost(`it says to have ${chunks} chunks, and at most ${MAX_CHUNKS} are written`);
  const parts: Uint8Array[] = [];
  for (let number = 0; number < chunks; number += 1) {
    const name = chunkName(digest, number);
    const secret = await client.find(secrets, { namespace, name }, { signal });
    const data = secret?.data?.['chunk'];
    if (data === undefined) return lost(`Secret ${namespace}/${name} with a part of it is gone`);
    parts.push(Buffer.from(data, 'base64'));
  }
  const unpacked = await unpackSnapshot(digest, parts);
  if (unpacked.ok) return unpacked;
  return lost(`the Secrets ${namespace}/${chunkName(digest, 0)} and following are damaged: ${unpacked.problem}`);
}

const lost = (why: string): Loaded => ({ ok: false, lost: true, message: lostMessage(why) });

/** Why there is no snapshot any more, and the only way out: to fetch again is a person's decision, for the server may have other contents now. */
function lostMessage(why: string): string {
  return `the stored remote content is lost: ${why}. It is not fetched again by itself, because it may have changed meanwhile: set the annotation slipway.dev/refresh-remote-content of the MachineConfig to a new value to fetch it as it is now`;
}
