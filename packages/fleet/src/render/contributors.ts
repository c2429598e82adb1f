// What makes a rendered config large, for the one who has to make it smaller.
import type { Provenance } from '@slipway/ignition';
import type { RenderedIgnition } from './ignition.ts';
import { nameOfMachineConfig } from './problem.ts';
import { storedSizeOf } from './size.ts';

export interface Contributor {
  /** Such as `file /etc/large.bin` or `unit app.service`. */
  readonly what: string;
  readonly bytes: number;
  /** The MachineConfig it comes from, or most of it. */
  readonly from: string;
}

const SHOWN = 5;
const MAX_NAME = 200;

/** The largest files and units, the largest first. */
export function largestContributors(config: RenderedIgnition, provenance: Provenance): Contributor[] {
  const from = (...paths: string[]) =>
    paths.map((path) => provenance.get(path)?.from).find((name) => name !== undefined) ?? '';
  const files = (config.storage?.files ?? []).map((file, index) => {
    const at = `storage.files[${index}]`;
    const what = `file ${file.path.slice(0, MAX_NAME)}`;
    return {
      what,
      bytes: storedSizeOf(file),
      from: from(`${at}.contents.source`, `${at}.append[0].source`, `${at}.path`),
    };
  });
  const units = (config.systemd?.units ?? []).map((unit, index) => {
    const at = `systemd.units[${index}]`;
    const what = `unit ${unit.name.slice(0, MAX_NAME)}`;
    return {
      what,
      bytes: storedSizeOf(unit),
      from: from(`${at}.contents`, `${at}.dropins[0].contents`, `${at}.name`),
    };
  });
  return [...files, ...units].sort((a, b) => b.bytes - a.bytes).slice(0, SHOWN);
}

export function describeContributors(contributors: readonly Contributor[]): string {
  return contributors
    .map(({ what, bytes, from }) => `${what} with ${bytes} bytes of ${nameOfMachineConfig(from)}`)
    .join('; ');
}
