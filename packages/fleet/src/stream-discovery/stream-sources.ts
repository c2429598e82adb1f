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

/** The images that the sources specify by tag: another image may have the tag tomorrow. */
export const listTagged = ({ commandLine, configMap, release }: StreamSources): string[] =>
  [commandLine?.osImage, commandLine?.osExtensionsImage, configMap?.osImage, configMap?.osExtensionsImage]
    .concat(release !== null && 'image' in release ? release.image : null)
    .filter((image): image is string => typeof image === 'string' && !image.includes('@'));

/** The same sources with the images that the tags stand for now. */
export function replaceTags(sources: StreamSources, byTag: ReadonlyMap<string, string>): StreamSources {
  const { commandLine, configMap, release } = sources;
  const replace = (image: string | null): string | null => (image === null ? null : (byTag.get(image) ?? image));
  const replacePair = ({ osImage, osExtensionsImage }: ImagePair): ImagePair => ({
    osImage: replace(osImage),
    osExtensionsImage: replace(osExtensionsImage),
  });
  return {
    commandLine: commandLine === null ? null : replacePair(commandLine),
    configMap: configMap === null ? null : { ...configMap, ...replacePair(configMap) },
    release: release !== null && 'image' in release ? { image: byTag.get(release.image) ?? release.image } : release,
  };
}

export const hasSources = ({ commandLine, configMap, release }: StreamSources): boolean =>
  commandLine !== null || configMap !== null || release !== null;

/** While the digest is the same, discovery cannot return anything else. `marks`: the annotation with the marks of users. */
export function digestSources(sources: StreamSources, controllerVersion: string, marks = ''): string {
  const { release } = sources;
  const payload = release !== null && 'imageReferences' in release ? sha256(release.imageReferences) : release;
  return sha256(canonicalJson({ ...sources, release: payload, controllerVersion, ...(marks !== '' && { marks }) }));
}
