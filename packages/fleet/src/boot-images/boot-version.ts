// Versions of boot images and of releases, in every format in use, and which of them are too old to upgrade from.

/** Major and minor. */
type Release = readonly [number, number];

export interface BootVersion {
  readonly text: string;
  /** The release of the platform; null if the version does not contain it. */
  readonly ocp: Release | null;
  /** The OS version; if the text names only the release, the OS version of that release. */
  readonly rhel: Release;
  /** All digits of the date, year first; '' for a release. */
  readonly date: string;
}

/** Older images cannot join an upgraded cluster. Compares the release, or the OS if the release is unknown. */
export const skewLimits = { ocp: '4.13.0', rhel: '9.2' } as const;
const oldestOcp: Release = [4, 13];
const oldestRhel: Release = [9, 2];

/** The OS version of each release, from that release on. */
const rhelByRelease: readonly (readonly [Release, Release])[] = [
  [
    [5, 0],
    [10, 0],
  ],
  [
    [4, 19],
    [9, 6],
  ],
  [
    [4, 16],
    [9, 4],
  ],
  [
    [4, 13],
    [9, 2],
  ],
  [
    [4, 11],
    [8, 6],
  ],
  [
    [4, 0],
    [8, 0],
  ],
];

/** From this number on, the first part is a release without its dot: 418 is 4.18, and 49 is 4.9. */
const FIRST_JOINED = 40;
/** Below this number, the first part is the major version of a release: no OS has a version that low. */
const FIRST_OS = 9;

/**
 * `418.94.202410090804-0` (release 4.18, OS 9.4), `419.6.20250523` (release 4.19, OS 9.6), `9.6.20251023-0` (OS 9.6),
 * `4.18.2026012111` (release 4.18), `4.22.0` and `4.22.0-rc.1` (release 4.22). Null: none of these.
 */
export function parseBootVersion(text: string): BootVersion | null {
  const found = /^(\d{1,3})\.(\d{1,3})\.(\d{1,14})(?:[-+.][0-9A-Za-z.+-]{1,100})?$/.exec(text);
  if (found === null) return null;
  const [, first = '', second = '', third = ''] = found;
  const date = third.length >= 8 ? third : '';
  if (Number(first) >= FIRST_JOINED) return joined(text, first, second, date);
  if (Number(first) >= FIRST_OS) {
    return date === '' ? null : { text, ocp: null, rhel: [Number(first), Number(second)], date };
  }
  const ocp: Release = [Number(first), Number(second)];
  return { text, ocp, rhel: findRhelRelease(ocp), date };
}

function joined(text: string, first: string, second: string, date: string): BootVersion | null {
  if (date === '') return null;
  const ocp: Release = [Number(first.charAt(0)), Number(first.slice(1))];
  // Some versions contain only the minor version of the OS; its major version is always 9.
  const rhel: Release = second.length === 1 ? [9, Number(second)] : [Number(second.charAt(0)), Number(second.slice(1))];
  return { text, ocp, rhel, date };
}

const findRhelRelease = (ocp: Release): Release =>
  rhelByRelease.find(([from]) => compare(ocp, from) >= 0)?.[1] ?? [0, 0];

const compare = (a: Release, b: Release): number => a[0] - b[0] || a[1] - b[1];

/** A total order: by OS version, then by build date. */
export const compareBootVersions = (a: BootVersion, b: BootVersion): number =>
  compare(a.rhel, b.rhel) || Number(a.date > b.date) - Number(a.date < b.date);

/** Undefined: the list is empty. */
export const findOldestVersion = (versions: readonly BootVersion[]): BootVersion | undefined =>
  versions.toSorted(compareBootVersions)[0];

export const isBelowLimit = ({ ocp, rhel }: BootVersion): boolean =>
  ocp === null ? compare(rhel, oldestRhel) < 0 : compare(ocp, oldestOcp) < 0;

/** Whether the release of `a` is older than that of `b`; false if either is unknown. */
export const isOlderRelease = (a: BootVersion, b: BootVersion): boolean =>
  a.ocp !== null && b.ocp !== null && compare(a.ocp, b.ocp) < 0;

/** The first release of the platform whose machines ran version 9 of the OS. */
const FIRST_RELEASE_WITH_9 = 13;

/**
 * The major version of the OS in an image version. `9.8.20260428-0` and `9.6.2026030314` start with it;
 * `418.94.202410090804-0` (release 4.18, OS 9.4) has it in second place; `4.18.2026012111` has only the release.
 * Null: unknown format.
 */
export function osMajor(version: string): number | null {
  const [first = '', second = ''] = version.split('.');
  if (!/^\d{1,3}$/.test(first) || !/^\d{1,2}$/.test(second)) return null;
  if (first === '4') return Number(second) >= FIRST_RELEASE_WITH_9 ? 9 : 8;
  if (!first.startsWith('4')) return Number(first);
  // Versions with the release and only the minor version of the OS, such as 419.6.20250523, all mean OS 9.
  return second.length === 2 ? Number(second.charAt(0)) : 9;
}
