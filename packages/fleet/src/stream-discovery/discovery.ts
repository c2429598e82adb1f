// What streams are discovered from, and what is found: plain data.
import type { Stream, StreamLifecycle } from '../os-streams/facts.ts';

export type SourceName = 'command line' | 'ConfigMap machine-config-osimageurl' | 'release image';

/** An image that a source names, and what its registry says of it. */
export interface SourceImage {
  /** By digest. */
  readonly reference: string;
  /** In image-references; null: the source has no tags. */
  readonly tag: string | null;
  /** Of the tag. */
  readonly annotations: Readonly<Record<string, string>>;
  /** Of the image's config. */
  readonly labels: Readonly<Record<string, string>>;
  /** What the source says the image is; null: labels or tag must say it. */
  readonly role: 'os' | 'extensions' | null;
}

export type SourceReading =
  | {
      readonly name: SourceName;
      readonly ok: true;
      readonly images: readonly SourceImage[];
      /** The version of the platform that it is of; null: it does not say. */
      readonly version: string | null;
    }
  | { readonly name: SourceName; readonly ok: false; readonly problem: string };

export interface Found {
  readonly stream: Stream;
  readonly from: SourceName;
  readonly lifecycle: StreamLifecycle | null;
}

/** Worth telling; none of them stops anything. */
export interface StreamNote {
  readonly code:
    | 'SLW_STREAM_SOURCE_FAILED'
    | 'SLW_STREAM_CONFLICT'
    | 'SLW_STREAM_PARTIAL'
    | 'SLW_STREAM_UNLABELLED'
    | 'SLW_STREAM_UNUSABLE'
    | 'SLW_STREAM_LIFECYCLE';
  readonly message: string;
}

export interface Discovery {
  /** By name, each with both images. */
  readonly found: readonly Found[];
  readonly notes: readonly StreamNote[];
  /** The version of the platform, by the source with the highest precedence that says it. */
  readonly version: string | null;
}
