// What others may know of a MachineConfig's remote content: the state of its snapshot, and the snapshot itself.
import { secrets } from '@slipway/api';
import type { MachineConfig, Secret } from '@slipway/api';
import { isRecord } from '@slipway/base/json';
import type { Client } from '@slipway/kube';
import {
  chunkName,
  chunksOf,
  digestOf,
  indexAnnotations,
  isFor,
  requestOf,
  type SnapshotProblem,
} from './index-secret.ts';
import { maxChunks, unpackSnapshot } from './pack.ts';

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
export function snapshotStateOf(machineConfig: MachineConfig, index: Secret | undefined): SnapshotState {
  if (index === undefined || !isFor(index, requestOf(machineConfig))) return { state: 'pending' };
  const { [indexAnnotations.problems]: problems, [indexAnnotations.lost]: lost } = index.metadata.annotations ?? {};
  const digest = digestOf(index);
  const chunks = chunksOf(index);
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
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch {
    list = undefined;
  }
  return (Array.isArray(list) ? list : []).flatMap((each: unknown) => (isProblem(each) ? [each] : []));
}

function isProblem(value: unknown): value is SnapshotProblem {
  return isRecord(value) && ['code', 'field', 'message'].every((field) => typeof value[field] === 'string');
}

export type Loaded = { ok: true; config: unknown } | { ok: false; lost: true; message: string };

/** The resolved config of a ready snapshot, checked against its digest. */
export async function loadSnapshot(
  client: Pick<Client, 'find'>,
  namespace: string,
  { digest, chunks }: Snapshot,
  signal?: AbortSignal,
): Promise<Loaded> {
  if (chunks > maxChunks) return lost(`it says to have ${chunks} chunks, and at most ${maxChunks} are written`);
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
