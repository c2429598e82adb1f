// What a controller would have beside the users' manifests: the default pools, the operator's own MachineConfigs, OS images.
import { type MachineConfig, type MachineConfigPool, renderedPrefix } from '@slipway/api';
import { builtInMachineConfigs, missingPools, type Streams, streamsOf } from '@slipway/fleet';
import { type FleetManifests, type OsImages, osImagesConfigMap } from '../manifests/fleet-manifests.ts';

export interface FleetOptions {
  osImages: OsImages;
  controllerVersion: string;
  daemonImage?: string | undefined;
  /** Before those of the manifests. */
  streams?: Streams | undefined;
}

export interface Fleet {
  pools: MachineConfigPool[];
  /** Names of those pools that the manifests lack. */
  assumedPools: ReadonlySet<string>;
  machineConfigs: MachineConfig[];
  osImages: OsImages;
  /** Null: pools follow none. */
  streams: Streams | null;
  /** What was not in the manifests and is taken to be, a sentence each. */
  assumptions: string[];
}

export function completeFleet(manifests: FleetManifests, options: FleetOptions): Fleet {
  const own = manifests.machineConfigs.filter(({ metadata }) => !metadata.name.startsWith(renderedPrefix));
  const given = new Set(own.map(({ metadata }) => metadata.name));
  const builtIn = builtInMachineConfigs(options).filter(({ metadata }) => !given.has(metadata.name));
  const defaults = missingPools(manifests.pools.map(({ metadata }) => metadata.name));
  const osImages = { ...manifests.osImages, ...options.osImages };
  const streams = options.streams ?? givenStreams(manifests);
  return {
    pools: [...manifests.pools, ...defaults].sort(byName),
    assumedPools: new Set(defaults.map(({ metadata }) => metadata.name)),
    machineConfigs: [...own, ...builtIn].sort(byName),
    osImages,
    streams,
    assumptions: [
      ...sayBuiltIn(builtIn, options.controllerVersion),
      ...(streams === null ? [...sayOsImages(osImages), ...sayNoStreams(manifests)] : []),
      ...sayRendered(manifests.machineConfigs.length - own.length),
    ],
  };
}

interface Named {
  metadata: { name: string };
}

/** By UTF-16 code units, so that no machine's language has a say. */
function byName(a: Named, b: Named): number {
  if (a.metadata.name === b.metadata.name) return 0;
  return a.metadata.name < b.metadata.name ? -1 : 1;
}

function sayBuiltIn(builtIn: readonly Named[], version: string): string[] {
  if (builtIn.length === 0) return [];
  const names = builtIn.map(({ metadata }) => metadata.name).join(', ');
  return [`${names}: not in the manifests; this program’s own are used (version ${version})`];
}

function sayOsImages({ osImageURL, baseOSExtensionsContainerImage }: OsImages): string[] {
  if (osImageURL === undefined) {
    return [
      `OS image: neither ConfigMap ${osImagesConfigMap} in the manifests nor --os-image; the result names one only if a MachineConfig does`,
    ];
  }
  return baseOSExtensionsContainerImage === undefined
    ? ['image of OS extensions: not given; the result names one only if a MachineConfig does']
    : [];
}

const givenStreams = ({ osImageStream }: FleetManifests): Streams | null =>
  osImageStream === undefined ? null : streamsOf(osImageStream);

/** A pool asks for something that nobody here can look up. */
function sayNoStreams({ pools }: FleetManifests): string[] {
  const asking = pools.filter(({ spec }) => spec.osImageStream !== undefined).map(({ metadata }) => metadata.name);
  if (asking.length === 0) return [];
  return [
    `OS image streams: no OSImageStream with a status in the manifests, so spec.osImageStream of ${asking.join(', ')} is ignored, as by controllers with OSStreams off`,
  ];
}

function sayRendered(count: number): string[] {
  return count === 0
    ? []
    : [`rendered MachineConfigs in the manifests (${count}): left out, they are results and no inputs`];
}
