// A pool's rendered config without a cluster: what the render controller does, by the same functions.
import type { MachineConfig, MachineConfigPool } from '@slipway/api';
import {
  type CodedProblem,
  osImagesOfPool,
  type PoolStream,
  ProblemList,
  renderPool,
  type RenderResult,
  selectMachineConfigs,
  selectorProblems,
  type Streams,
} from '@slipway/fleet';
import type { ReadResult } from '@slipway/fleet/plan';
import type { ManifestOptions, RenderOptions } from '../cli/options.ts';
import { version } from '../cli/program.ts';
import type { FleetManifests } from '../manifests/fleet-manifests.ts';
import { readManifests } from '../manifests/read-manifests.ts';
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
    osImages: {
      ...(options.osImage === undefined ? {} : { osImageURL: options.osImage }),
      ...(options.osExtensionsImage === undefined ? {} : { baseOSExtensionsContainerImage: options.osExtensionsImage }),
    },
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
  const machineConfigs = selectMachineConfigs(pool, fleet.machineConfigs);
  const results: ReadResult[] = [];
  // One after the other: each may fetch, with a limit of its own on what it holds.
  for (const each of machineConfigs) results.push(await read(each));
  const images = osImagesOfPool(pool, fleet);
  const problems = [
    ...selectorProblems(pool),
    ...images.problems,
    ...results.flatMap((result) => (result.ok ? [] : result.problems)),
  ];
  if (problems.length > 0) throw new ProblemList(problems);
  const result = await renderPool({
    pool: pool.metadata.name,
    inputs: results.flatMap((each) => (each.ok ? [each.input] : [])),
    osImages: images.osImages,
    osStream: images.osStream,
    controllerVersion,
  });
  if (!result.ok) throw new ProblemList(result.problems.map(withFlag));
  return { ...result, pool, machineConfigs, stream: images.decided };
}

/** Here a flag is one more way out: manifests of another version's cluster are rendered as that version. */
function withFlag({ code, message }: CodedProblem): CodedProblem {
  const flag = code === 'SLW_RENDER_VERSION' ? '. Or give --controller-version with the version that was found' : '';
  return { code, message: `${message}${flag}` };
}
