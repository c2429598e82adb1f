// The sources from which the streams of a cluster are discovered, before any registry is queried.
import { sha256 } from '@slipway/base/hash';
import { canonicalJson } from '../render/rendered-name.ts';

/** Two images that a user or the platform specifies. Null: not specified. */
export interface ImagePair {
  readonly osImage: string | null;
  readonly osExtensionsImage: string | null;
}

export interface StreamSources {
  /** Command-line flags. */
  readonly commandLine: ImagePair | null;
  readonly configMap: (ImagePair & { readonly version: string | null }) | null;
  /** A release image, or its list of images. */
  readonly release: { readonly image: string } | { readonly imageReferences: Uint8Array } | null;
}

export const noSources: StreamSources = { commandLine: null, configMap: null, release: null };

/** Null: it specifies no image. */
export function toImagePair(osImage: string | undefined, osExtensionsImage: string | undefined): ImagePair | null {
  const pair = { osImage: textOrNull(osImage), osExtensionsImage: textOrNull(osExtensionsImage) };
  return pair.osImage === null && pair.osExtensionsImage === null ? null : pair;
}

/** From ConfigMap machine-config-osimageurl. */
export function configMapPair(data: Readonly<Record<string, string>> | undefined): StreamSources['configMap'] {
  const pair = toImagePair(data?.['baseOSContainerImage'], data?.['baseOSExtensionsContainerImage']);
  return pair === null ? null : { ...pair, version: textOrNull(data?.['releaseVersion']) };
}

const textOrNull = (text: string | undefined): string | null => {
  const trimmed = text?.trim() ?? '';
  return trimmed === '' ? null : trimmed;
};

export const hasSources = ({ commandLine, configMap, release }: StreamSources): boolean =>
  commandLine !== null || configMap !== null || release !== null;

/** While the digest is the same, discovery cannot return anything else. */
export function digestSources(sources: StreamSources, controllerVersion: string): string {
  const { release } = sources;
  const payload = release !== null && 'imageReferences' in release ? sha256(release.imageReferences) : release;
  return sha256(canonicalJson({ ...sources, release: payload, controllerVersion }));
}
