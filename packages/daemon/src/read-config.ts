// A rendered config by its name, from the cluster: all of it, as it was rendered, or the reason why not.
import type { MachineConfig } from '@slipway/api';
import { machineConfigs } from '@slipway/api/resources';
import { poolLabel } from '@slipway/api/names';
import { isRenderedAs } from '@slipway/fleet';
import type { Client } from '@slipway/kube';
import { DaemonError } from './errors.ts';
import type { StoredConfig } from './stored-config.ts';

/** Rejects with a DaemonError where the object is no config to bring a machine to. */
export type ConfigReader = (name: string, signal: AbortSignal) => Promise<StoredConfig>;

export const createConfigReader =
  (client: Client): ConfigReader =>
  (name, signal) =>
    readConfig(client, name, signal);

async function readConfig(client: Client, name: string, signal: AbortSignal): Promise<StoredConfig> {
  const found = await client.find(machineConfigs, { name }, { signal });
  if (found === undefined) {
    throw new DaemonError(
      'SLW_DAEMON_CONFIG',
      `MachineConfig ${name}, which the Node’s annotation desiredConfig names, does not exist: it was deleted, or the name is wrong. The render controller makes it again while its pool has it in spec.configuration; else let the node have another target`,
    );
  }
  return checkConfig(found);
}

async function checkConfig(found: MachineConfig): Promise<StoredConfig> {
  const { name, labels } = found.metadata;
  const { spec } = found;
  if (spec?.config === undefined) throw incomplete(name, 'expected spec.config, found none');
  const pool = labels?.[poolLabel];
  if (pool !== undefined && !(await isRenderedAs(name, pool, spec))) {
    throw incomplete(name, 'its name is the digest of another spec: a part of it is missing, or was changed');
  }
  return { name, spec };
}

const incomplete = (name: string, why: string): DaemonError =>
  new DaemonError(
    'SLW_DAEMON_CONFIG',
    `MachineConfig ${name} is not what was rendered: ${why}. Delete it, and the render controller makes it again`,
  );
