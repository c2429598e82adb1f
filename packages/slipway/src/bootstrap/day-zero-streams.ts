// The OS image streams of a release, for machines that start before there is a cluster.
import { type OSImageStream, osImageStreams } from '@slipway/api';
import { readSources } from '@slipway/controllers';
import { formatProblem, type Streams, streamsOf } from '@slipway/fleet';
import { discoverStreams, nextStreamObject, pairOf, type StreamSources } from '@slipway/fleet/stream-discovery';
import { apiVersionOf } from '@slipway/kube';
import type { FleetManifests } from '../manifests/fleet-manifests.ts';
import { openRegistry } from '../open-registry.ts';
import { ProblemList } from '@slipway/fleet';
import { readSmallFile } from '../read-small-file.ts';
import { osImageStreamName } from '../streams/read-streams.ts';
import type { BootstrapOptions } from './bootstrap.ts';

type DayZeroManifests = Pick<FleetManifests, 'osImages' | 'releaseVersion' | 'osImageStream'>;

export interface DayZeroStreams {
  readonly streams: Streams;
  /** For the cluster that comes to be. */
  readonly object: OSImageStream;
  /** What was left out, and why, a line each. */
  readonly notes: readonly string[];
}

/**
 * By the same sources and rules as the controllers have. Undefined: nobody has asked for streams. A source that fails
 * is an error here: machines would start with another OS than was meant.
 */
export async function dayZeroStreams(
  options: BootstrapOptions,
  manifests: DayZeroManifests,
): Promise<DayZeroStreams | undefined> {
  if (options.imageReferences === undefined) return undefined;
  const imageReferences = await readSmallFile('--image-references', options.imageReferences);
  const readings = await readAll({ ...namedPairs(options, manifests), release: { imageReferences } }, options);
  const failed = readings.flatMap((reading) => (reading.ok ? [] : [`${reading.name}: ${reading.problem}`]));
  if (failed.length > 0) throw ProblemList.of('SLW_STREAM_SOURCE_FAILED', failed);
  const discovery = discoverStreams(readings);
  const next = nextStreamObject({
    current: manifests.osImageStream,
    discovery,
    sourcesDigest: '',
    releaseImage: null,
  });
  if (next.type === 'leave') throw new ProblemList([...next.problems, ...discovery.notes]);
  const object = manifestOf(next.wanted);
  const streams = streamsOf(object);
  if (streams === null) throw new Error('an OSImageStream was made without a status');
  const notes = [...next.problems, ...discovery.notes].map((each) => `warning: ${formatProblem(each)}`);
  return { streams, object, notes };
}

function namedPairs(
  { osImage, osExtensionsImage }: BootstrapOptions,
  { osImages, releaseVersion }: DayZeroManifests,
): Pick<StreamSources, 'commandLine' | 'configMap'> {
  const configMap = pairOf(osImages?.osImageURL, osImages?.baseOSExtensionsContainerImage);
  return {
    commandLine: pairOf(osImage, osExtensionsImage),
    configMap: configMap === null ? null : { ...configMap, version: releaseVersion ?? null },
  };
}

async function readAll(sources: StreamSources, options: BootstrapOptions): ReturnType<typeof readSources> {
  const registry = await openRegistry(options);
  try {
    return await readSources(sources, { registry });
  } finally {
    await registry.close();
  }
}

/** An API server takes no status with a new object: it is here for who renders from these manifests, and the controllers make it anew. */
function manifestOf({
  spec,
  status,
  annotations,
}: Extract<ReturnType<typeof nextStreamObject>, { type: 'write' }>['wanted']): OSImageStream {
  const kept = Object.entries(annotations).filter((entry): entry is [string, string] => (entry[1] ?? '') !== '');
  return {
    apiVersion: apiVersionOf(osImageStreams),
    kind: osImageStreams.kind,
    metadata: { name: osImageStreamName, annotations: Object.fromEntries(kept) },
    spec,
    status,
  };
}
