// Streams and pools for tests: each specifies only what the test is about.
import type { PoolStreamFacts, Stream, StreamImages, StreamLifecycle, Streams } from '../available.ts';

/** Images whose names contain their build and stream. */
export const sampleImages = (stream: string, build = 1): StreamImages => ({
  osImage: `registry.example.com/${stream}@sha256:${build}`,
  osExtensionsImage: `registry.example.com/${stream}-extensions@sha256:${build}`,
});

export const streamNamed = (name: string, build = 1): Stream => ({ name, ...sampleImages(name, build) });

/** The first is the default. */
export function sampleStreams(
  names: readonly string[] = ['rhel-9', 'rhel-10'],
  more: { build?: number; defaultStream?: string; lifecycle?: Readonly<Record<string, Partial<StreamLifecycle>>> } = {},
): Streams {
  const lifecycle = Object.entries(more.lifecycle ?? {}).map(([name, said]): [string, StreamLifecycle] => [
    name,
    { state: 'deprecated', successor: null, message: null, ...said },
  ]);
  return {
    available: names.map((name) => streamNamed(name, more.build)),
    defaultStream: more.defaultStream ?? names[0] ?? 'rhel-9',
    lifecycle: new Map(lifecycle),
  };
}

/** A new pool that requests no stream. */
export const samplePool = (more: Partial<PoolStreamFacts> = {}): PoolStreamFacts => ({
  pool: 'worker',
  asked: null,
  tracked: null,
  worker: undefined,
  runs: null,
  ...more,
});

export const tracked = (name: string, build = 1): NonNullable<PoolStreamFacts['tracked']> => ({
  name,
  images: sampleImages(name, build),
});

export const running = (stream: string, build = 1): NonNullable<PoolStreamFacts['runs']> => ({
  stream,
  images: sampleImages(stream, build),
});
