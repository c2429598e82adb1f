// Whether a rendered config still is what was rendered. Its generation does not show it: an object that was deleted and
// created again starts at 1. Its name does, because it contains the digest of the spec.
import { type MachineConfig, machineConfigs, poolLabel } from '@slipway/api';
import { isRenderedAs } from '@slipway/fleet';
import type { Client, Stored } from '@slipway/kube';

/** By the object in the store, which is another one after each change: a config is read once for each change. */
const checks = new WeakMap<Stored<MachineConfig>, Promise<boolean>>();

/** `config` needs no spec. A config that was deleted meanwhile counts as intact: its deletion is the next change. */
export function isIntact(config: Stored<MachineConfig>, client: Client): Promise<boolean> {
  const known = checks.get(config) ?? check(config, client);
  checks.set(config, known);
  known.catch(() => checks.delete(config));
  return known;
}

async function check({ metadata }: Stored<MachineConfig>, client: Client): Promise<boolean> {
  const found = await client.find(machineConfigs, { name: metadata.name });
  return found === undefined || isRenderedAs(metadata.name, metadata.labels?.[poolLabel] ?? '', found.spec);
}
