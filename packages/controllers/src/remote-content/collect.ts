// Chunks that no MachineConfig has a use for go away.
import { machineConfigs, secrets } from '@slipway/api';
import type { MachineConfig, Secret } from '@slipway/api';
import type { Context } from '@slipway/kube';
import { digestOf, remembered, remoteContentLabel, requestOf, shortDigest } from './index-secret.ts';
import { chunksWith, indexesWith } from './secrets-source.ts';
import { deleteSecret } from './snapshot-store.ts';

/** To be called in the turn of the digest: whoever writes its chunks writes the index that refers to them in the same turn. */
export async function collectChunks({ read, client, log }: Context, namespace: string, digest: string): Promise<void> {
  const store = read(secrets);
  const chunks = chunksWith(store, digest);
  if (chunks.length === 0 || indexesWith(store, digest).length > 0) return;
  if ([...read(machineConfigs).values()].some((machineConfig) => remembers(machineConfig, digest))) return;
  // The index may be newer than our cache.
  for await (const index of client.list(secrets, { namespace, labelSelector: `${remoteContentLabel}=index` })) {
    if (isAbout(index, digest)) return;
  }
  for (const chunk of chunks) await deleteSecret(client, chunk);
  log.info({ digest, chunks: chunks.length }, 'deleted a snapshot of remote content that nothing refers to');
}

const isAbout = (secret: Secret, digest: string): boolean =>
  shortDigest(digestOf(secret) ?? '') === shortDigest(digest);

/**
 * While a MachineConfig stays as it is, its last snapshot stays too, even if its index is gone or tells of a refresh that
 * failed: then the index can be made again, or the refresh taken back, with nothing fetched.
 */
function remembers(machineConfig: MachineConfig, digest: string): boolean {
  const known = remembered(machineConfig);
  if (known === undefined || known.generation !== requestOf(machineConfig).generation) return false;
  return shortDigest(known.digest) === shortDigest(digest);
}
