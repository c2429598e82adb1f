import { machineConfigs, poolLabel } from '@slipway/api';
import { newestFirst, type RecordedConfig, recordedConfigOf } from '@slipway/fleet/reports';
import type { Client } from '@slipway/kube';

/** Each may have a megabyte and more. */
const PAGE_SIZE = 10;

/** The newest first. */
export async function readRendered(client: Client, pool: string): Promise<RecordedConfig[]> {
  const found: RecordedConfig[] = [];
  const which = { labelSelector: `${poolLabel}=${pool}`, pageSize: PAGE_SIZE };
  for await (const object of client.list(machineConfigs, which)) found.push(recordedConfigOf(object));
  return found.sort(newestFirst);
}
