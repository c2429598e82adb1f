import { inUseLabel, type MachineConfig, machineConfigs, poolLabel, sourcesAnnotation } from '@slipway/api';
import { readRenderedFrom, type RenderedFrom } from '@slipway/fleet';
import type { Client, Stored } from '@slipway/kube';

/** What history looks at of a rendered MachineConfig. */
export interface RenderedConfig {
  readonly name: string;
  readonly renderedAt: string;
  readonly isInUse: boolean;
  /** Null: not recorded. */
  readonly sources: readonly RenderedFrom[] | null;
  readonly spec: NonNullable<MachineConfig['spec']>;
}

/** Each may have a megabyte and more. */
const PAGE_SIZE = 10;

/** The newest first. */
export async function readRendered(client: Client, pool: string): Promise<RenderedConfig[]> {
  const found: RenderedConfig[] = [];
  const which = { labelSelector: `${poolLabel}=${pool}`, pageSize: PAGE_SIZE };
  for await (const object of client.list(machineConfigs, which)) found.push(renderedConfigOf(object));
  return found.sort(newestFirst);
}

export const newestFirst = (a: RenderedConfig, b: RenderedConfig): number =>
  b.renderedAt.localeCompare(a.renderedAt) || a.name.localeCompare(b.name);

const renderedConfigOf = ({ metadata, spec = {} }: Stored<MachineConfig>): RenderedConfig => ({
  name: metadata.name,
  renderedAt: metadata.creationTimestamp ?? '',
  isInUse: metadata.labels?.[inUseLabel] !== undefined,
  sources: readRenderedFrom(metadata.annotations?.[sourcesAnnotation]),
  spec,
});
