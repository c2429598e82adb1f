// Reads MachineConfigs with their remote content, which the cluster has stored or which is fetched into memory.
import { type MachineConfig, type Secret, secrets } from '@slipway/api';
import { needsRemoteContent, type ReadInput, readMachineConfig, selectMachineConfigs } from '@slipway/fleet';
import type { FleetState, ReadConfigs } from '@slipway/fleet/plan';
import { loadSnapshot, REMOTE_CONTENT_LABEL, readSnapshotState } from '@slipway/fleet/remote-content';
import { type Client, isKubeError } from '@slipway/kube';
import type { Progress } from '../cli/io.ts';
import type { ReadMachineConfig } from '../render/remote-content.ts';

/** Reads every MachineConfig that a pool of one of the states selects. */
export async function readConfigs(
  states: readonly FleetState[],
  read: ReadMachineConfig,
  progress: Progress,
): Promise<ReadConfigs> {
  const selected = new Set(
    states.flatMap(({ pools, machineConfigs }) => pools.flatMap((pool) => selectMachineConfigs(pool, machineConfigs))),
  );
  const results = new Map<MachineConfig, ReadInput>();
  // One at a time: each may fetch, and the memory limit applies to each.
  for (const machineConfig of selected) {
    progress(`reading MachineConfigs: ${results.size} of ${selected.size}`);
    results.set(machineConfig, await read(machineConfig));
  }
  return results;
}

export interface SnapshotReader {
  readonly read: ReadMachineConfig;
  /** One note for each MachineConfig whose content the cluster has not stored. */
  readonly notes: readonly string[];
}

/** Uses the content that the controllers have stored: the remote server may serve other content by now. */
export function snapshotReader(
  client: Client,
  namespace: string,
  fetching: ReadMachineConfig,
  /** What fetching here means, for the note. */
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
        `the cluster has not stored the remote content of MachineConfig ${machineConfig.metadata.name} in this version: ${meaning} (--no-fetch prevents that)`,
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
    notes.push(`these credentials may not read stored remote content: ${error.message}`);
    return [];
  }
}
