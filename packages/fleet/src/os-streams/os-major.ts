/**
 * 9 for `Red Hat Enterprise Linux CoreOS 9.6.20260101-0`. Older versions start with the platform version: `CoreOS
 * 418.94.202501010000-0` is platform 4.18 on OS 9.4. Null: unknown.
 */
export function parseOsMajor(osImage: string): number | null {
  const [, first, second] = /(?:^|\s)(\d{1,4})\.(\d{1,10})/.exec(osImage) ?? [];
  if (first === undefined || second === undefined) return null;
  if (/^4\d\d$/.test(first) && /^\d{2,3}$/.test(second)) return Number(second.slice(0, -1));
  return Number(first);
}
