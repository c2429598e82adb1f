// Boot images are numbered in more than one way.

/** The first release of the platform whose machines ran version 9 of the OS. */
const FIRST_RELEASE_WITH_9 = 13;

/**
 * The major version of the OS in the version of an image: `9.8.20260428-0` and `9.6.2026030314` say it, `418.94.202410090804-0`
 * (release 4.18, OS 9.4) says it in second place, `4.18.2026012111` says only the release. Null: it cannot be told.
 */
export function osMajor(version: string): number | null {
  const [first = '', second = ''] = version.split('.');
  if (!/^\d{1,3}$/.test(first) || !/^\d{1,2}$/.test(second)) return null;
  if (first === '4') return Number(second) >= FIRST_RELEASE_WITH_9 ? 9 : 8;
  if (!first.startsWith('4')) return Number(first);
  // Images that are numbered by release and by the minor version of the OS alone, such as 419.6.20250523, are all of 9.
  return second.length === 2 ? Number(second.charAt(0)) : 9;
}
