// MachineConfigs made ready to merge, with their remote content: from what the cluster has stored, or fetched into memory.
import { type MachineConfig, type Secret, secrets } from '@slipway/api';
import { needsRemoteContent, type ReadInput, readMachineConfig, selectMachineConfigs } from '@slipway/fleet';
import type { FleetState, ReadConfigs } from '@slipway/fleet/plan';
import { loadSnapshot, REMOTE_CONTENT_LABEL, readSnapshotState } from '@slipway/fleet/remote-content';
import { type Client, isKubeError } from '@slipway/kube';
import type { Progress } from '../cli/io.ts';
import type { ReadMachineConfig } from '../render/remote-content.ts';

/** Every MachineConfig that a pool of one of the states selects. */
export async function readConfigs(
  states: readonly FleetState[],
  read: ReadMachineConfig,
  progress: Progress,
): Promise<ReadConfigs> {
  const selected = new Set(
    states.flatMap(({ pools, machineConfigs }) => pools.flatMap((pool) => selectMachineConfigs(pool, machineConfigs))),
  );
  const results = new Map<MachineConfig, ReadInput>();
  // One after the other: each may fetch, with a limit of its own on what it holds.
  for (const machineConfig of selected) {
    progress(`reads MachineConfigs: ${results.size} of ${selected.size}`);
    results.set(machineConfig, await read(machineConfig));
  }
  return results;
}

export interface SnapshotReader {
  readonly read: ReadMachineConfig;
  /** What was fetched because the cluster has not stored it. */
  readonly notes: readonly string[];
}

/** What the controllers have fetched is not fetched again: the server may have other contents by now. */
export function snapshotReader(
  client: Client,
  namespace: string,
  fetching: ReadMachineConfig,
  /** What becomes of content that is fetched here, for a note. */
  meaning: string,
): SnapshotReader {
  const notes: string[] = [];
  let indexes: Promise<readonly Secret[]> | undefined;
  async function stored(machineConfig: MachineConfig): Promise<ReadInput | null> {
    const { name, uid } = machineConfig.metadata;
    if (uid === undefined) return null;
    indexes ??= listIndexes(client, namespace, notes);
    const index = (await indexes).find(({ metadata }) => metadata.name.endsWith(uid));
    const state = readSnapshotState(machineConfig, index);
    if (state.state !== 'ready') return null;
    const loaded = await loadSnapshot(client, namespace, state);
    if (loaded.ok) return readMachineConfig(machineConfig, loaded.config);
    return {
      ok: false,
      problems: [{ code: 'SLW_REMOTE_CONTENT_LOST', message: `MachineConfig ${name}: ${loaded.message}` }],
    };
  }
  return {
    notes,
    async read(machineConfig) {
      if (!needsRemoteContent(machineConfig)) return readMachineConfig(machineConfig);
      const found = await stored(machineConfig);
      if (found !== null) return found;
      notes.push(
        `remote content of MachineConfig ${machineConfig.metadata.name} is not stored in the cluster as it would be: ${meaning} (--no-fetch refuses that)`,
      );
      return fetching(machineConfig);
    },
  };
}

async function listIndexes(client: Client, namespace: string, notes: string[]): Promise<readonly Secret[]> {
  try {
    return await Array.fromAsync(client.list(secrets, { namespace, labelSelector: `${REMOTE_CONTENT_LABEL}=index` }));
  } catch (error) {
    if (!isKubeError(error, 'SLW_KUBE_FORBIDDEN')) throw error;
    notes.push(`stored remote content may not be read with these credentials: ${error.message}`);
    return [];
  }
}
