// The stream that a pool is on, in the annotations of the pool. Anybody may have written there: what is not whole is not used.
import { osStreamAnnotation, osStreamImagesAnnotation } from '@slipway/api/names';
import { isRecord } from '@slipway/base/json';
import { isStreamName } from './available.ts';
import type { PoolStream, StreamImages, TrackedStream } from './facts.ts';
import { trackedBy } from './pool-stream.ts';

type Annotations = Readonly<Record<string, string>>;

/** In place of the name of a stream that nobody can tell. Without the annotation a pool is not tracked at all. */
const unknownStream = '';
/** As the API bounds an image. */
const MAX_IMAGE = 447;
const MAX_IMAGES = 4096;

/** Null: not tracked, or damaged; what the machines run tells then. */
export function trackedOf(annotations: Annotations | undefined): TrackedStream | null {
  const name = annotations?.[osStreamAnnotation];
  if (name === undefined || (name !== unknownStream && !isStreamName(name))) return null;
  const images = imagesIn(annotations?.[osStreamImagesAnnotation]);
  return { name: name === unknownStream ? null : name, images };
}

export type TrackedAnnotations = Readonly<
  Partial<Record<typeof osStreamAnnotation | typeof osStreamImagesAnnotation, string | null>>
>;

/** As a decision leaves them; null: to be deleted. Empty: they stay as they are. */
export function trackedAnnotations(decision: PoolStream): TrackedAnnotations {
  const tracked = trackedBy(decision);
  if (tracked === null) return {};
  return {
    [osStreamAnnotation]: tracked.name ?? unknownStream,
    [osStreamImagesAnnotation]: tracked.images === null ? null : encodeImages(tracked.images),
  };
}

const encodeImages = ({ osImage, osExtensionsImage }: StreamImages): string =>
  JSON.stringify({ osImage, osExtensionsImage });

function imagesIn(text: string | undefined): StreamImages | null {
  if (text === undefined || text.length > MAX_IMAGES) return null;
  try {
    return readImages(JSON.parse(text));
  } catch {
    return null;
  }
}

/** An OS before streams may have come without extensions: '' then. */
function readImages(value: unknown): StreamImages | null {
  if (!isRecord(value)) return null;
  const { osImage, osExtensionsImage } = value;
  return isImage(osImage) && osImage !== '' && isImage(osExtensionsImage) ? { osImage, osExtensionsImage } : null;
}

const isImage = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= MAX_IMAGE && !/\s/.test(value);
