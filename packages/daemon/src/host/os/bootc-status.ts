// `bootc status --format json`. What is absent may be null or left out.
import { DaemonError } from '../../errors.ts';
import { digestOf } from './image-name.ts';

export interface BootcImage {
  readonly image: string;
  readonly transport: string;
  readonly digest: string;
  readonly version: string;
}

export interface BootcEntry {
  /** null: packages were changed by rpm-ostree, so bootc says nothing of the image. */
  readonly image: BootcImage | null;
  /** bootc cannot change what rpm-ostree has changed. */
  readonly incompatible: boolean;
  /** Only what is kept by ostree can be seen and changed by rpm-ostree as well. */
  readonly ostree: boolean;
}

export interface BootcStatus {
  /** null: this machine was not booted from an image. */
  readonly booted: BootcEntry | null;
  readonly staged: BootcEntry | null;
}

export function parseBootcStatus(text: string): BootcStatus {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new DaemonError(
      'SLW_DAEMON_HOST',
      'What `bootc status --format json` printed is no JSON. Is there a newer version of it?',
    );
  }
  const status = asRecord(asRecord(value)?.['status']);
  return { booted: readEntry(status?.['booted']), staged: readEntry(status?.['staged']) };
}

function readEntry(value: unknown): BootcEntry | null {
  const entry = asRecord(value);
  if (entry === undefined) return null;
  return {
    image: readImage(entry['image']),
    incompatible: entry['incompatible'] === true,
    ostree: asRecord(entry['ostree']) !== undefined,
  };
}

function readImage(value: unknown): BootcImage | null {
  const outer = asRecord(value);
  const inner = asRecord(outer?.['image']);
  const image = asText(inner?.['image']);
  if (outer === undefined || image === '') return null;
  return {
    image,
    transport: asText(inner?.['transport']) || 'registry',
    digest: asText(outer['imageDigest']) || digestOf(image),
    version: asText(outer['version']),
  };
}

function asRecord(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
