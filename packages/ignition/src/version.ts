// The spec versions this library reads and writes, oldest first.

export const SPEC_VERSIONS = [
  '2.2.0',
  '2.3.0',
  '2.4.0',
  '3.0.0',
  '3.1.0',
  '3.2.0',
  '3.3.0',
  '3.4.0',
  '3.5.0',
  '3.6.0',
] as const;

export type SpecVersion = (typeof SPEC_VERSIONS)[number];
export type SpecVersion2 = Extract<SpecVersion, `2.${string}`>;
export type SpecVersion3 = Extract<SpecVersion, `3.${string}`>;

export const NEWEST_VERSION = '3.6.0' satisfies SpecVersion;

const KNOWN: ReadonlySet<string> = new Set(SPEC_VERSIONS);

export function isSpecVersion(text: string): text is SpecVersion {
  return KNOWN.has(text);
}

/** Position in the order of versions: a greater rank is a newer spec. */
export function rankVersion(version: SpecVersion): number {
  return SPEC_VERSIONS.indexOf(version);
}

export function atLeast(version: SpecVersion, other: SpecVersion): boolean {
  return rankVersion(version) >= rankVersion(other);
}
