// ConfigMap coreos-bootimages with what is known about it: what it says, whether it may be followed yet, and which images were
// ever in it.
import type { ConfigMap } from '@slipway/api';
import { parseBootImageConfig } from './boot-image-config.ts';
import type { GoldenReading } from './facts.ts';
import { knownImages } from './known-images.ts';
import { readStamp, type Stamp } from './stamp.ts';

/** On the ConfigMap: ids of images that were in it, so that they are still known when another release has come. */
export const knownImagesAnnotation = 'slipway.dev/boot-images-known';

export interface Golden {
  readonly reading: GoldenReading;
  readonly knownImages: ReadonlySet<string>;
  /** Null where it cannot be read. */
  readonly stamp: Stamp | null;
}

/** `version`: ours. */
export function readGolden(configMap: ConfigMap | undefined, version: string, now: number): Golden {
  const parsed = parseBootImageConfig(configMap ?? null);
  if (!parsed.ok) {
    const { code, message } = parsed;
    return { reading: { type: 'problem', code, message }, knownImages: new Set(), stamp: null };
  }
  const { config } = parsed;
  const { data = {}, metadata } = configMap ?? {};
  const annotations = metadata?.annotations ?? {};
  const stamp = readStamp({ data, annotations, version, now });
  return {
    reading: { type: 'valid', golden: { config, generation: stamp.generation, stamp: stamp.state } },
    knownImages: knownImages(config, annotations[knownImagesAnnotation]),
    stamp,
  };
}

/** The same, with no second thought about the same object within a second: it has hundreds of kB, and a thousand ask. */
export function createGoldenReader(version: string): (configMap: ConfigMap | undefined, now: number) => Golden {
  let last: { readonly configMap: ConfigMap | undefined; readonly second: number; readonly golden: Golden } | undefined;
  return (configMap, now) => {
    const second = Math.floor(now / 1000);
    if (last !== undefined && last.configMap === configMap && (last.second === second || isSettled(last.golden)))
      return last.golden;
    const golden = readGolden(configMap, version, now);
    last = { configMap, second, golden };
    return golden;
  };
}

/** Time changes nothing about it. */
const isSettled = ({ stamp }: Golden): boolean => stamp?.state.type !== 'waiting';
