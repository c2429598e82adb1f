// Short constructors for source readings.
import type { SourceImage, SourceReading } from '../discover-streams.ts';

/** An image whose digest is derived from its name, so that tests can distinguish it. */
export const sampleImageReference = (name: string): string =>
  `quay.io/openshift/os@sha256:${Buffer.from(name).toString('hex').padEnd(64, '0').slice(0, 64)}`;

interface TagWish {
  /** On its label; null: none. */
  readonly stream?: string | null;
  readonly labels?: Record<string, string>;
  readonly annotations?: Record<string, string>;
  readonly image?: string;
}

/** A tag of a release, as its registry reports it. */
export function tagged(tag: string, { stream = null, labels, annotations = {}, image }: TagWish = {}): SourceImage {
  const isExtensions = tag.includes('-extensions');
  return {
    tag,
    role: null,
    reference: image ?? sampleImageReference(tag),
    annotations,
    labels: {
      ...(labels ?? { [isExtensions ? 'io.openshift.os.extensions' : 'containers.bootc']: 'true' }),
      ...(stream !== null && { 'io.openshift.os.streamclass': stream }),
    },
  };
}

/** Both tags of a stream. */
export const pair = (tag: string, stream: string | null, annotations: Record<string, string> = {}): SourceImage[] => [
  tagged(tag, { stream, annotations }),
  tagged(`${tag}-extensions`, { stream }),
];

export const release = (images: readonly SourceImage[], version: string | null = '4.22.0'): SourceReading => ({
  name: 'release image',
  ok: true,
  images,
  version,
});

/** The pair of the ConfigMap; labels are on both images. */
export const configMap = (
  name: string,
  labels: Record<string, string> = {},
  version: string | null = '4.22.0',
): SourceReading => ({
  name: 'ConfigMap machine-config-osimageurl',
  ok: true,
  version,
  images: named(name, labels),
});

export const commandLine = (name: string, labels: Record<string, string> = {}): SourceReading => ({
  name: 'command line',
  ok: true,
  version: null,
  images: named(name, labels),
});

const named = (name: string, labels: Record<string, string>): SourceImage[] => [
  { tag: null, role: 'os', reference: sampleImageReference(name), annotations: {}, labels },
  { tag: null, role: 'extensions', reference: sampleImageReference(`${name}-extensions`), annotations: {}, labels },
];
