import type { FleetManifests } from '../manifests/fleet-manifests.ts';
import { sayIgnored } from '../manifests/read-manifests.ts';
import type { Fleet } from './complete-fleet.ts';
import type { Rendering } from './render-offline.ts';

/** What was left out of the manifests, and what was assumed beside them. */
export function sayFleet(manifests: FleetManifests, fleet: Fleet): string[] {
  const ignored = manifests.ignored.size === 0 ? [] : [`left out: ${sayIgnored(manifests)}`];
  return [...ignored, ...fleet.assumptions.map((assumption) => `assumed: ${assumption}`)];
}

/** The result in a few lines, for people. */
export function sayRendering(
  { fleet }: { fleet: Fleet },
  { pool, machineConfigs, rendered, warnings }: Rendering,
): string[] {
  const { name } = pool.metadata;
  const assumed = fleet.assumedPools.has(name)
    ? [`assumed: MachineConfigPool ${name}: not in the manifests; the default pool of that name is used`]
    : [];
  return [
    ...assumed,
    ...warnings.map(({ message }) => `warning: ${message}`),
    `${rendered.name}: ${machineConfigs.length} MachineConfigs (${machineConfigs.map((each) => each.metadata.name).join(', ')}), ${sayBytes(rendered.bytes)}${rendered.osStream === null ? '' : `, OS image stream ${rendered.osStream}`}`,
  ];
}

function sayBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(2)} MB`;
}
