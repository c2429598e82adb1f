// Renders a pool of a cluster and records which MachineConfig set what. Nothing here writes.
import {
  configMaps,
  isSameStream,
  type MachineConfig,
  type MachineConfigPool,
  machineConfigs,
  OS_IMAGES_CONFIG_MAP,
  osStreamAnnotation,
} from '@slipway/api';
import { clusterImages, namedImages, prepareRender, ProblemList, type RenderImages, renderPool } from '@slipway/fleet';
import type { Client } from '@slipway/kube';
import { readPool, whereInstalled } from '../cli/cluster.ts';
import type { RenderOptions } from '../cli/options.ts';
import { readMachineConfigs } from '../plan/read-cluster.ts';
import { snapshotReader } from '../plan/read-configs.ts';
import { machineConfigReader } from '../render/remote-content.ts';
import { type Rendering, formatRendering } from '../render/render.ts';

export interface ExplainedRendering {
  readonly rendering: Rendering;
  /** What was assumed, and the result, one line each. */
  readonly notes: readonly string[];
}

/**
 * A rendered config does not record which MachineConfig set what, so the pool is rendered again from the MachineConfigs
 * of the cluster. If the result differs from the pool's config, there is a note.
 */
export async function renderFromCluster(
  client: Client,
  name: string,
  options: RenderOptions,
): Promise<ExplainedRendering> {
  const pool = await whereInstalled(client, () => readPool(client, name));
  const current = await findRendered(client, pool);
  const given = await readMachineConfigs(client, options, [pool]);
  const reader = snapshotReader(
    client,
    options.namespace,
    machineConfigReader(options),
    'it is fetched again for this command',
  );
  const { selected, problems, request } = await prepareRender(pool, {
    machineConfigs: given.machineConfigs,
    read: reader.read,
    images: await readImages(client, pool, current, options),
    controllerVersion: given.controllerVersion,
  });
  if (request === null) throw new ProblemList(problems);
  const result = await renderPool(request);
  if (!result.ok) throw new ProblemList(result.problems);
  const rendering: Rendering = { ...result, pool, machineConfigs: selected, stream: null };
  return {
    rendering,
    notes: [
      ...given.notes,
      ...reader.notes,
      ...comparison(pool, result.rendered.name),
      ...formatRendering({ fleet: { assumedPools: new Set() } }, rendering),
    ],
  };
}

async function findRendered(client: Client, { spec }: MachineConfigPool): Promise<MachineConfig | undefined> {
  const name = spec.configuration?.name ?? '';
  return name === '' ? undefined : client.find(machineConfigs, { name });
}

/** The images that the pool was rendered with: only the controllers know which ones are next. */
async function readImages(
  client: Client,
  pool: MachineConfigPool,
  current: MachineConfig | undefined,
  options: RenderOptions,
): Promise<RenderImages> {
  const flags = namedImages(options);
  if (current === undefined) {
    const found = await client.find(configMaps, { name: OS_IMAGES_CONFIG_MAP, namespace: options.namespace });
    return { osImages: clusterImages(found?.data, flags), osStream: null };
  }
  const { osImageURL: osImage, baseOSExtensionsContainerImage: osExtensionsImage } = current.spec ?? {};
  const stream = current.metadata.annotations?.[osStreamAnnotation];
  const asked = pool.spec.osImageStream?.name;
  return {
    osImages: { ...namedImages({ osImage, osExtensionsImage }), ...flags },
    osStream:
      stream === undefined ? null : { name: stream, isAsked: asked !== undefined && isSameStream(asked, stream) },
  };
}

function comparison({ metadata, spec }: MachineConfigPool, rendered: string): string[] {
  const current = spec.configuration?.name ?? '';
  if (current === rendered) return [];
  const is = current === '' ? 'has no rendered config yet' : `has ${current}, rendered from other MachineConfigs`;
  return [`warning: MachineConfigPool ${metadata.name} ${is}. This explains its current MachineConfigs`];
}
