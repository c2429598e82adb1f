// What the machines of pools run that no stream was decided for yet: pools of a cluster from before streams.
import type { MachineConfigPool, Node } from '@slipway/api';
import { poolOf } from '../pool-of.ts';
import type { PlannedConfig } from '../update/plan-update.ts';
import { distributionOf } from './default-stream.ts';
import type { StreamImages, Streams } from './facts.ts';
import type { RunningOs } from './pool-os-images.ts';
import { runsOf } from './runs.ts';
import { trackedOf } from './tracked.ts';

export interface Running {
  readonly pools: readonly MachineConfigPool[];
  readonly nodes: readonly Node[];
  /** By name. */
  readonly rendered: ReadonlyMap<string, PlannedConfig['spec']>;
  readonly streams: Streams | null;
}

/** By pool. The controllers know more where they have asked the registry for the labels of an image. */
export function runningIn({ pools, nodes, rendered, streams }: Running): ReadonlyMap<string, RunningOs> {
  if (streams === null) return new Map();
  const untracked = pools.filter(({ metadata }) => trackedOf(metadata.annotations) === null);
  if (untracked.length === 0) return new Map();
  const members = Map.groupBy(nodes, ({ metadata }) => {
    const chosen = poolOf(metadata, pools);
    return chosen.ok ? chosen.pool : null;
  });
  return new Map(
    untracked.flatMap((pool): [string, RunningOs][] => {
      const { name } = pool.metadata;
      const found = runsOf({
        statusStream: pool.status?.osImageStream?.name ?? null,
        renderedImages: imagesIn(rendered.get(configOf(pool))),
        imageLabels: null,
        nodeOsImages: (members.get(name) ?? []).flatMap((node) => node.status?.nodeInfo?.osImage ?? []),
        distribution: distributionOf(null, streams.available),
        streams: streams.available,
        lastStreams: [],
      });
      return found === null ? [] : [[name, found]];
    }),
  );
}

/** What every machine has; the newest one may never have reached any. */
const configOf = ({ spec, status }: MachineConfigPool): string =>
  status?.configuration?.name ?? spec.configuration?.name ?? '';

function imagesIn(config: PlannedConfig['spec'] | undefined): StreamImages | null {
  if (config === undefined) return null;
  return { osImage: config.osImageURL ?? '', osExtensionsImage: config.baseOSExtensionsContainerImage ?? '' };
}
