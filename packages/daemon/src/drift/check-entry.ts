// One path of the config: looked at, and compared.
import type { Owner } from '@slipway/fleet';
import { DaemonError } from '../errors.ts';
import { systemErrorCode } from '../host/file-system.ts';
import type { Host } from '../host/host.ts';
import {
  compareEntry,
  type ComparedEntry,
  type ComparedFile,
  type Difference,
  type EntryFacts,
} from './compare-entry.ts';
import { shown } from './drift.ts';
import type { VerifyMemory } from './verify-memory.ts';

/** One round over the machine. */
export interface Check {
  readonly host: Host;
  readonly memory: VerifyMemory;
  /** By name, since looking one up reads a file of the machine. */
  readonly owners: Map<string, number>;
}

export async function checkEntry(check: Check, entry: ComparedEntry): Promise<Difference[]> {
  try {
    return compareEntry(entry, await factsOf(check, entry));
  } catch (error) {
    if (error instanceof DaemonError) return [unreadable(entry, error.message)];
    const code = systemErrorCode(error);
    if (code === undefined) throw error;
    return [unreadable(entry, `it cannot be looked at: ${code}`)];
  }
}

async function factsOf(check: Check, entry: ComparedEntry): Promise<EntryFacts> {
  const { files } = check.host;
  const found = await files.lookAt(entry.path);
  const target = entry.kind === 'hard link' ? await files.lookAt(entry.target) : null;
  return {
    found,
    hasContents: entry.kind === 'file' && found?.kind === 'file' && (await hasContents(check, entry, found)),
    owners: { uid: await numberOf(check, 'user', entry), gid: await numberOf(check, 'group', entry) },
    targetInode: target?.kind === 'file' ? target.inode : null,
  };
}

async function hasContents(
  { host, memory }: Check,
  { path, contents, keepsExisting }: ComparedFile,
  found: Extract<EntryFacts['found'], { kind: 'file' }>,
): Promise<boolean> {
  if (keepsExisting ? found.size < contents.size : found.size !== contents.size) return false;
  const tail = keepsExisting ? contents.size : undefined;
  return (await memory.contents(host.files, path, found, tail)).sha256 === contents.sha256;
}

const ROOT: Owner = { id: 0 };

/** Null: the config leaves it. Also numbers are asked for: a simulated machine may have other ones. */
async function numberOf({ host, owners }: Check, kind: 'user' | 'group', entry: ComparedEntry): Promise<number | null> {
  if (entry.kind === 'hard link' || ('leaves' in entry && entry.leaves.has(kind))) return null;
  const owner = entry[kind];
  const key = `${kind} ${JSON.stringify(owner)}`;
  const known = owners.get(key);
  if (known !== undefined) return known;
  const { uid, gid } = await host.accounts.owners(kind === 'user' ? owner : ROOT, kind === 'user' ? ROOT : owner);
  const number = kind === 'user' ? uid : gid;
  owners.set(key, number);
  return number;
}

/** A path that leads elsewhere, an owner that is not there, a sector that cannot be read: the machine is not as it should be. */
function unreadable(entry: ComparedEntry, text: string): Difference {
  return {
    kind: entry.kind === 'hard link' ? 'link' : entry.kind,
    name: entry.path,
    message: `${entry.kind} ${shown(entry.path)}: ${text.slice(0, 500)}`,
    canHeal: false,
  };
}
