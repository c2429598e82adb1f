// The Secrets of all snapshots, as the controller watches them: metadata only, indexed by what they belong to.
import { type Secret, secrets } from '@slipway/api';
import {
  chunkName,
  readChunkCount,
  digestOf,
  indexAnnotations,
  REMOTE_CONTENT_LABEL,
  shortDigest,
  type Snapshot,
} from '@slipway/fleet/remote-content';
import type { Key, StoreReader, Source, Store, Stored } from '@slipway/kube';

const BY_DIGEST = 'remote-content-digest';
const BY_MACHINE_CONFIG = 'remote-content-machine-config';

const isIndex = ({ metadata }: Secret): boolean => metadata.labels?.[REMOTE_CONTENT_LABEL] === 'index';
const isChunk = ({ metadata }: Secret): boolean => metadata.labels?.[REMOTE_CONTENT_LABEL] === 'chunk';

/** The key of the chunks of one digest. It has a slash, which no MachineConfig name has. */
const CHUNKS_PREFIX = 'chunks/';
export const formatChunksKey = (digest: string): Key => `${CHUNKS_PREFIX}${shortDigest(digest)}`;
export const parseChunksKey = (key: Key): string | undefined =>
  key.startsWith(CHUNKS_PREFIX) ? key.slice(CHUNKS_PREFIX.length) : undefined;

export function remoteContentSecrets(namespace: string): Source<Secret> {
  return {
    resource: secrets,
    as: 'metadata',
    namespace,
    labelSelector: REMOTE_CONTENT_LABEL,
    indexes,
    keysOf: keysOfSecret,
  };
}

const indexes = { [BY_DIGEST]: listDigests, [BY_MACHINE_CONFIG]: listMachineConfigNames };

function listDigests(secret: Secret): string[] {
  const digest = digestOf(secret);
  return digest === undefined ? [] : [shortDigest(digest)];
}

function listMachineConfigNames(secret: Secret): string[] {
  return isIndex(secret) ? [secret.metadata.annotations?.[indexAnnotations.machineConfig] ?? ''] : [];
}

/** Its MachineConfig, and the chunks it references; for a chunk also the MachineConfigs that need it. */
function keysOfSecret(secret: Secret, read: StoreReader): Key[] {
  const digests = listDigests(secret);
  const users = isChunk(secret) ? digests.flatMap((digest) => findIndexesByDigest(read(secrets), digest)) : [secret];
  return [...digests.map(formatChunksKey), ...users.flatMap(listMachineConfigNames)];
}

/** The indexes of the MachineConfigs that have, or had, this name. */
export const findIndexes = (store: Store<Secret>, machineConfig: string): readonly Stored<Secret>[] =>
  store.byIndex(BY_MACHINE_CONFIG, machineConfig);

export const findIndexesByDigest = (store: Store<Secret>, digest: string): readonly Stored<Secret>[] =>
  store.byIndex(BY_DIGEST, shortDigest(digest)).filter(isIndex);

export const findChunks = (store: Store<Secret>, digest: string): readonly Stored<Secret>[] =>
  store.byIndex(BY_DIGEST, shortDigest(digest)).filter(isChunk);

/** An index is written after its chunks, and one watch delivers both: a chunk that is missing here was deleted. */
export function hasChunks(store: Store<Secret>, { digest, chunks }: Snapshot): boolean {
  const names = new Set(findChunks(store, digest).map(({ metadata }) => metadata.name));
  return Array.from({ length: chunks }, (_, number) => chunkName(digest, number)).every((name) => names.has(name));
}

/** The number of chunks of a digest, according to the existing ones. */
export const countChunks = (store: Store<Secret>, digest: string): number | undefined =>
  findChunks(store, digest)
    .map(readChunkCount)
    .find((count) => count !== undefined);
