// A fleet out of manifests and dumps, without a cluster.
import { machineConfigurationKind } from '@slipway/api';
import { runningIn } from '@slipway/fleet';
import type { AppliedManifests, FleetState, Machines } from '@slipway/fleet/plan';
import type { RenderOptions } from '../cli/options.ts';
import { version } from '../cli/program.ts';
import { manifestsIn, readDocuments } from '../manifests/read-manifests.ts';
import { completeFleet } from '../render/complete-fleet.ts';
import { sayFleet } from '../render/say-fleet.ts';
import { type Dump, dumpedKinds, machinesIn, renderedIn } from './dumped-machines.ts';
import { settingsIn } from './given-manifests.ts';

export interface OfflineFleet {
  readonly state: FleetState;
  readonly given: AppliedManifests;
  readonly rendered: Machines['rendered'];
  readonly dump: Dump;
  /** What was left out and what was assumed, a line each. */
  readonly notes: readonly string[];
}

export async function readOffline(
  paths: readonly string[],
  stdin: AsyncIterable<Uint8Array>,
  options: RenderOptions,
): Promise<OfflineFleet> {
  const { documents, problems } = await readDocuments(paths, stdin);
  const settings = settingsIn(documents);
  const { dump, problems: wrong } = machinesIn(documents);
  const manifests = manifestsIn(paths.join(', '), documents, options.namespace, [
    ...problems,
    ...(settings.ok ? [] : settings.problems),
    ...wrong,
  ]);
  const controllerVersion = options.controllerVersion ?? version;
  const fleet = completeFleet(manifests, {
    osImages: {
      ...(options.osImage !== undefined && { osImageURL: options.osImage }),
      ...(options.osExtensionsImage !== undefined && { baseOSExtensionsContainerImage: options.osExtensionsImage }),
    },
    controllerVersion,
    daemonImage: options.daemonImage,
  });
  const rendered = renderedIn(manifests.machineConfigs);
  const state: FleetState = {
    pools: fleet.pools,
    machineConfigs: fleet.machineConfigs,
    settings: settings.ok ? settings.object : undefined,
    osImages: fleet.osImages,
    streams: fleet.streams,
    running: runningIn({ pools: fleet.pools, nodes: dump.nodes, rendered, streams: fleet.streams }),
    controllerVersion,
  };
  return {
    state,
    given: { ...state },
    rendered,
    dump,
    notes: sayFleet({ ...manifests, ignored: unused(manifests.ignored) }, fleet),
  };
}

/** A plan looks at more kinds than a render. */
const unused = (ignored: ReadonlyMap<string, number>): ReadonlyMap<string, number> =>
  new Map([...ignored].filter(([kind]) => kind !== machineConfigurationKind.kind && !dumpedKinds.includes(kind)));
