import { posix } from 'node:path';
import { type FileSystem, followLinks, readText } from '@slipway/daemon/host';
import { templateOf } from './unit-name.ts';
import { readUnitSettings, type UnitSettings } from './unit-settings.ts';

export const CONFIG_DIRECTORY = '/etc/systemd/system';
export const RUNTIME_DIRECTORY = '/run/systemd/system';
/** What comes first counts. */
export const UNIT_DIRECTORIES = [
  CONFIG_DIRECTORY,
  RUNTIME_DIRECTORY,
  '/usr/local/lib/systemd/system',
  '/usr/lib/systemd/system',
];
const MOST_BYTES = 1024 * 1024;

export type UnitFound =
  | { readonly kind: 'not-found' }
  | { readonly kind: 'masked'; readonly at: string }
  /** A link in /etc/systemd/system to a file that systemd would not find itself. */
  | { readonly kind: 'linked'; readonly at: string }
  | {
      readonly kind: 'unit';
      /** What the name asked for is an alias of; else that name. */
      readonly name: string;
      readonly path: string;
      readonly settings: UnitSettings;
    };

type Candidate = { readonly kind: 'alias'; readonly name: string } | Exclude<UnitFound, { kind: 'unit' }> | FileFound;
interface FileFound {
  readonly kind: 'file';
  readonly path: string;
}

export async function findUnit(files: FileSystem, name: string, hops = 0): Promise<UnitFound> {
  const candidate = await firstCandidate(files, name);
  if (candidate.kind === 'alias') {
    return hops > 8 ? { kind: 'not-found' } : findUnit(files, candidate.name, hops + 1);
  }
  if (candidate.kind !== 'file') return candidate;
  const texts = [candidate.path, ...(await dropInsOf(files, name))].map((path) => readText(files, path, MOST_BYTES));
  const settings = readUnitSettings((await Promise.all(texts)).map((text) => text ?? ''));
  return { kind: 'unit', name, path: candidate.path, settings };
}

async function firstCandidate(files: FileSystem, name: string): Promise<Candidate> {
  const template = templateOf(name);
  for (const wanted of template === undefined ? [name] : [name, template]) {
    for (const directory of UNIT_DIRECTORIES) {
      const candidate = await lookForUnit(files, posix.join(directory, wanted), wanted);
      if (candidate !== null) return candidate;
    }
  }
  return { kind: 'not-found' };
}

async function lookForUnit(files: FileSystem, path: string, name: string): Promise<Candidate | null> {
  const found = await files.lookAt(path);
  if (found?.kind === 'link') return lookAtLink(files, path, name, found.target);
  if (found?.kind !== 'file') return null;
  return found.size === 0 ? { kind: 'masked', at: path } : { kind: 'file', path };
}

async function lookAtLink(files: FileSystem, path: string, name: string, target: string): Promise<Candidate | null> {
  if (target === '/dev/null') return { kind: 'masked', at: path };
  const leadsTo = posix.resolve(posix.dirname(path), target);
  if (!UNIT_DIRECTORIES.includes(posix.dirname(leadsTo))) {
    return (await followLinks(files, leadsTo)) === undefined ? null : { kind: 'linked', at: leadsTo };
  }
  if (posix.basename(leadsTo) !== name) return { kind: 'alias', name: posix.basename(leadsTo) };
  return lookForUnit(files, leadsTo, name);
}

/**
 * Each name from the first directory that has it. Those for all units of a type, or with the same first words, count for a
 * running unit but not for [Install], so they are left out.
 */
async function dropInsOf(files: FileSystem, name: string): Promise<string[]> {
  const byName = new Map<string, string>();
  const template = templateOf(name);
  for (const folder of template === undefined ? [`${name}.d`] : [`${template}.d`, `${name}.d`]) {
    for (const directory of UNIT_DIRECTORIES.toReversed()) {
      const path = posix.join(directory, folder);
      for (const file of await files.list(path)) if (file.endsWith('.conf')) byName.set(file, posix.join(path, file));
    }
  }
  return [...byName.entries()].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, path]) => path);
}
