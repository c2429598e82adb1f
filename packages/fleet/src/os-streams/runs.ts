// What the machines of a pool run if no stream is recorded for it: a cluster that predates streams.
import { knownStream, type KnownStream, knownStreams, type MachineConfigPool, type Node } from '@slipway/api';
import { selectPool } from '../pool-membership.ts';
import { parseOsMajor } from './os-major.ts';
import type { PlannedConfig } from '../update/plan-update.ts';
import { isStreamName, type PoolStreamFacts, type Stream, type StreamImages, type Streams } from './available.ts';
import { type Distribution, detectDistribution, getFamily } from './default-stream.ts';
import type { RunningOs } from './pool-os-images.ts';
import { readTrackedStream } from './pool-stream.ts';

export interface RunsEvidence {
  /** status.osImageStream.name of the pool; null: none. */
  readonly statusStream: string | null;
  /** The images of the pool's rendered config, each '' if it has none; null: no rendered config exists. */
  readonly renderedImages: StreamImages | null;
  /** Labels of that OS image, from its registry; null: unavailable. */
  readonly imageLabels: Readonly<Record<string, string>> | null;
  /** status.nodeInfo.osImage of each of its machines. */
  readonly nodeOsImages: readonly string[];
  /** Of the platform; null: unknown. */
  readonly distribution: Distribution | null;
  /** The available streams, and those of the previous OSImageStream; newest first. */
  readonly streams: readonly Stream[];
  readonly lastStreams: readonly Stream[];
}

/** Null: nothing, so the pool is new. */
export function detectRunningOs(evidence: RunsEvidence): PoolStreamFacts['runs'] {
  const images = readImages(evidence);
  if (evidence.statusStream === null && images === null && evidence.nodeOsImages.length === 0) return null;
  const stream = streamByName(evidence) ?? streamByLabels(evidence) ?? streamByNodes(evidence);
  return { stream, images };
}

/** Whether only the registry of the rendered image gives a reliable answer. */
export const needsImageLabels = (evidence: RunsEvidence): boolean =>
  readImages(evidence) !== null && streamByName(evidence) === null;

const readImages = ({ renderedImages }: RunsEvidence): StreamImages | null =>
  renderedImages === null || renderedImages.osImage === '' ? null : renderedImages;

function streamByName({ statusStream, streams, lastStreams, renderedImages }: RunsEvidence): string | null {
  if (statusStream !== null && isStreamName(statusStream)) return statusStream;
  const image = renderedImages?.osImage ?? '';
  return image === '' ? null : ([...streams, ...lastStreams].find(({ osImage }) => osImage === image)?.name ?? null);
}

function streamByLabels(evidence: RunsEvidence): string | null {
  return evidence.imageLabels === null ? null : streamOfLabels(evidence.imageLabels, familyIn(evidence));
}

export const STREAM_CLASS_LABEL = 'io.openshift.os.streamclass';

/** The stream on the image's label, else the stream of its version. Null: undetermined. */
export function streamOfLabels(
  labels: Readonly<Record<string, string>>,
  family: KnownStream['family'] | null,
): string | null {
  const stream = labels[STREAM_CLASS_LABEL] ?? '';
  if (isStreamName(stream)) return stream;
  const version = labels['org.opencontainers.image.version'] ?? labels['version'] ?? '';
  return streamOfVersion(version, family);
}

/** The stream that a version such as `9.6.20251201-1` belongs to. */
function streamOfVersion(version: string, family: KnownStream['family'] | null): string | null {
  const major = parseOsMajor(version);
  if (major === null || family === null) return null;
  return knownStreams.find((each) => each.family === family && (each.major ?? major) === major)?.name ?? null;
}

/** During an update, the newest of them: no machine is downgraded. */
function streamByNodes(evidence: RunsEvidence): string | null {
  const fallback = familyIn(evidence);
  const found = evidence.nodeOsImages
    .map((text) => streamOfVersion(text, familyInText(text) ?? fallback))
    .map((name) => (name === null ? undefined : knownStream(name)))
    .filter((each) => each !== undefined)
    .sort((a, b) => (b.major ?? 0) - (a.major ?? 0));
  const isOneFamily = new Set(found.map(({ family }) => family)).size === 1;
  return isOneFamily ? (found[0]?.name ?? null) : null;
}

/** In the format of kubelets: the name of the OS and its version. */
function familyInText(osImage: string): KnownStream['family'] | null {
  if (/red hat/i.test(osImage)) return 'rhel';
  if (/centos/i.test(osImage)) return 'centos';
  return /fedora/i.test(osImage) ? 'fedora' : null;
}

/** From the platform, else the only family among the streams. */
function familyIn({ distribution, streams, lastStreams }: RunsEvidence): KnownStream['family'] | null {
  if (distribution !== null) return getFamily(distribution);
  const families = new Set([...streams, ...lastStreams].map(({ name }) => knownStream(name)?.family));
  families.delete(undefined);
  const [only] = families;
  return families.size === 1 ? (only ?? null) : null;
}

// What the machines run in pools without a stream decision: pools of a cluster that predates streams.

export interface Running {
  readonly pools: readonly MachineConfigPool[];
  readonly nodes: readonly Node[];
  /** By name. */
  readonly rendered: ReadonlyMap<string, PlannedConfig['spec']>;
  readonly streams: Streams | null;
}

/** By pool. The controllers know more if they have queried the registry for image labels. */
export function runningIn({ pools, nodes, rendered, streams }: Running): ReadonlyMap<string, RunningOs> {
  if (streams === null) return new Map();
  const untracked = pools.filter(({ metadata }) => readTrackedStream(metadata.annotations) === null);
  if (untracked.length === 0) return new Map();
  const members = Map.groupBy(nodes, ({ metadata }) => {
    const chosen = selectPool(metadata, pools);
    return chosen.ok ? chosen.pool : null;
  });
  return new Map(
    untracked.flatMap((pool): [string, RunningOs][] => {
      const { name } = pool.metadata;
      const found = detectRunningOs({
        statusStream: pool.status?.osImageStream?.name ?? null,
        renderedImages: imagesIn(rendered.get(readConfigName(pool))),
        imageLabels: null,
        nodeOsImages: (members.get(name) ?? []).flatMap((node) => node.status?.nodeInfo?.osImage ?? []),
        distribution: detectDistribution(null, streams.available),
        streams: streams.available,
        lastStreams: [],
      });
      return found === null ? [] : [[name, found]];
    }),
  );
}

/** The config that every machine has; the newest one may not have reached any. */
const readConfigName = ({ spec, status }: MachineConfigPool): string =>
  status?.configuration?.name ?? spec.configuration?.name ?? '';

function imagesIn(config: PlannedConfig['spec'] | undefined): StreamImages | null {
  if (config === undefined) return null;
  return { osImage: config.osImageURL ?? '', osExtensionsImage: config.baseOSExtensionsContainerImage ?? '' };
}
