// The Secrets that a snapshot is kept in. The index has no data: a watch of metadata alone tells all about every snapshot.
import { refreshAnnotation, remoteContentAnnotation } from '@slipway/api';
import type { MachineConfig, ObjectMeta, Secret } from '@slipway/api';
import { sha256 } from '@slipway/base/hash';
import { maxChunks } from './pack.ts';

/** On the Secrets; its value is `index` or `chunk`. */
export const remoteContentLabel = 'slipway.dev/remote-content';

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

type Outcome =
  | { state: 'ready'; digest: string; chunks: number; fetchedAt: string }
  | { state: 'ready'; digest: string; chunks: number; recoveredAt: string }
  | { state: 'lost'; digest: string; message: string }
  | { state: 'failed'; problems: readonly SnapshotProblem[]; attempts: number; retryAt: string };
export type { Outcome as IndexOutcome };

export function requestOf({ metadata }: MachineConfig): SnapshotRequest {
  const refresh = metadata.annotations?.[refreshAnnotation];
  return {
    uid: metadata.uid ?? '',
    generation: String(metadata.generation ?? 0),
    refresh: refresh === undefined ? '-' : sha256(refresh).slice(0, 16),
  };
}

export function isFor(index: Secret, { uid, generation, refresh }: SnapshotRequest): boolean {
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
  outcome: Outcome,
): Required<Pick<ObjectMeta, 'name' | 'labels' | 'annotations'>> {
  const { uid, generation, refresh } = requestOf(machineConfig);
  return {
    name: indexName(uid),
    labels: { [remoteContentLabel]: 'index' },
    annotations: {
      [indexAnnotations.machineConfig]: machineConfig.metadata.name,
      [indexAnnotations.uid]: uid,
      [indexAnnotations.generation]: generation,
      [indexAnnotations.refresh]: refresh,
      ...outcomeAnnotations(outcome),
    },
  };
}

function outcomeAnnotations(outcome: Outcome): Record<string, string> {
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
export function chunksOf({ metadata }: Secret): number | undefined {
  const text = metadata.annotations?.[indexAnnotations.chunks] ?? '';
  const chunks = /^[1-9]\d{0,3}$/.test(text) ? Number(text) : 0;
  return chunks >= 1 && chunks <= maxChunks ? chunks : undefined;
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
