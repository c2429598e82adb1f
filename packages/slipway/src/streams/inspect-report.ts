// The OS image streams of a release, as plain data. `-o json` gives exactly this.
import { defaultStreamOf, type CodedProblem, type StreamLifecycle } from '@slipway/fleet';
import type { Discovery, StreamNote } from '@slipway/fleet/stream-discovery';
import type { InspectedImage } from '@slipway/registry';

export interface InspectReport {
  /** What was looked at. */
  readonly release: string;
  /** Of the platform; null: the release does not say. */
  readonly version: string | null;
  /** What a new pool of a new cluster gets; null: `problems` says why there is none. */
  readonly defaultStream: string | null;
  /** By name. */
  readonly streams: readonly InspectedStream[];
  /** What was left out, and why. */
  readonly notes: readonly StreamNote[];
  /** What a cluster of this release would complain of. */
  readonly problems: readonly CodedProblem[];
}

export interface InspectedStream {
  readonly name: string;
  readonly isDefault: boolean;
  /** Null: it lives. */
  readonly lifecycle: StreamLifecycle | null;
  readonly os: StreamImage;
  readonly extensions: StreamImage;
}

export interface StreamImage {
  /** By digest. */
  readonly image: string;
  /** As its labels say; null: they do not. */
  readonly version: string | null;
  /** As it is transferred. */
  readonly bytes: number;
}

/** `images` by their references: every image of the streams that were found. */
export function inspectReport(
  release: string,
  { found, notes, version }: Discovery,
  images: ReadonlyMap<string, Pick<InspectedImage, 'labels' | 'size'>>,
): InspectReport {
  const available = found.map(({ stream }) => stream);
  const chosen = available.length === 0 ? null : defaultStreamOf({ version, available, override: null });
  const defaultStream = chosen?.ok === true ? chosen.name : null;
  const imageOf = (image: string): StreamImage => {
    const { labels = {}, size = 0 } = images.get(image) ?? {};
    return { image, version: labels['org.opencontainers.image.version'] ?? labels['version'] ?? null, bytes: size };
  };
  return {
    release,
    version,
    defaultStream,
    streams: found.map(({ stream, lifecycle }) => ({
      name: stream.name,
      isDefault: stream.name === defaultStream,
      lifecycle,
      os: imageOf(stream.osImage),
      extensions: imageOf(stream.osExtensionsImage),
    })),
    notes,
    problems: chosen?.ok === false ? [chosen.problem] : [],
  };
}
