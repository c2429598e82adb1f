// A pool's rendered config without a cluster: what the render controller does, by the same functions.
import type { MachineConfig, MachineConfigPool } from '@slipway/api';
import {
  type CodedProblem,
  namedImages,
  osImagesOfPool,
  type PoolStream,
  prepareRender,
  ProblemList,
  renderPool,
  type RenderResult,
  type Streams,
} from '@slipway/fleet';
import type { FleetManifests } from '../manifests/fleet-manifests.ts';
import type { ManifestOptions, RenderOptions } from '../manifests/manifest-options.ts';
import { readManifests } from '../manifests/read-manifests.ts';
import { version } from '../version.ts';
import { completeFleet, type Fleet } from './complete-fleet.ts';
import { machineConfigReader, type ReadMachineConfig } from './remote-content.ts';
import { sayFleet } from './say-fleet.ts';

export type Rendering = Extract<RenderResult, { ok: true }> & {
  pool: MachineConfigPool;
  /** In the order of the merge. */
  machineConfigs: readonly MachineConfig[];
  /** Which OS image stream the pool is on, and why; null: there are none. */
  stream: PoolStream | null;
};

export interface OfflineFleet {
  fleet: Fleet;
  /** What was left out and what was assumed, a line each. */
  notes: string[];
  /** Throws a ProblemList when the pool cannot be rendered. */
  render(pool: MachineConfigPool): Promise<Rendering>;
}

export async function offlineFleet(options: ManifestOptions, stdin: AsyncIterable<Uint8Array>): Promise<OfflineFleet> {
  return offlineFleetOf(await readManifests(options.filename, stdin, options.namespace), options);
}

/** `streams` before those of the manifests. */
export function offlineFleetOf(manifests: FleetManifests, options: RenderOptions, streams?: Streams): OfflineFleet {
  const read = machineConfigReader(options);
  const controllerVersion = options.controllerVersion ?? version;
  const fleet = completeFleet(manifests, {
    osImages: namedImages(options),
    controllerVersion,
    daemonImage: options.daemonImage,
    streams,
  });
  return {
    fleet,
    notes: sayFleet(manifests, fleet),
    render: (pool) => renderOffline(fleet, pool, read, controllerVersion),
  };
}

async function renderOffline(
  fleet: Fleet,
  pool: MachineConfigPool,
  read: ReadMachineConfig,
  controllerVersion: string,
): Promise<Rendering> {
  const images = osImagesOfPool(pool, fleet);
  const { machineConfigs } = fleet;
  const { selected, problems, request } = await prepareRender(pool, {
    machineConfigs,
    read,
    images,
    controllerVersion,
  });
  if (request === null) throw new ProblemList(problems);
  const result = await renderPool(request);
  if (!result.ok) throw new ProblemList(result.problems.map(withFlag));
  return { ...result, pool, machineConfigs: selected, stream: images.decided };
}

/** Here a flag is one more way out: manifests of another version's cluster are rendered as that version. */
function withFlag({ code, message }: CodedProblem): CodedProblem {
  const flag = code === 'SLW_RENDER_VERSION' ? '. Or give --controller-version with the version that was found' : '';
  return { code, message: `${message}${flag}` };
}
