// The major version of a machine's OS, out of what its kubelet tells.
import type { NodeFacts } from './facts.ts';

/**
 * 9 for `Red Hat Enterprise Linux CoreOS 9.6.20260101-0`. Older ones begin with the version of the platform:
 * `CoreOS 418.94.202501010000-0` is platform 4.18 on OS 9.4. Null: it does not say.
 */
export function osMajorOf(osImage: string): number | null {
  const [, first, second] = /(?:^|\s)(\d{1,4})\.(\d{1,10})/.exec(osImage) ?? [];
  if (first === undefined || second === undefined) return null;
  if (/^4\d\d$/.test(first) && /^\d{2,3}$/.test(second)) return Number(second.slice(0, -1));
  return Number(first);
}

/** The highest of the machines that run a config; null: none does, or they do not say. */
export function highestMajor(nodes: readonly NodeFacts[], runs: (config: string | null) => boolean): number | null {
  let highest: number | null = null;
  for (const { current, osImage } of nodes) {
    const major = runs(current) ? osMajorOf(osImage) : null;
    if (major !== null && (highest === null || major > highest)) highest = major;
  }
  return highest;
}
