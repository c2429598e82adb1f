// Compares a machine with its config: paths, units, the running OS. What the host cannot report is not compared.
import { maskSecrets } from '@slipway/base/masking';
import { truncate } from '@slipway/base/text';
import type { DesiredDirectory, DesiredEntry, DesiredFile, DesiredOS, DesiredUnit } from '../desired-machine.ts';
import type { FileInfo, Owners } from '../host/file-system.ts';
import type { Deployment } from '../host/host.ts';
import { parseDigest, listExtensionPackages, listKernelPackages } from '../host/os/deployment.ts';
import { type Drift, type DriftKind, sanitizeName } from './drift.ts';

const MAX_VALUE_CHARS = 500;

/** Without the diff, which needs a second read. */
export type Difference = Omit<Drift, 'diff'>;

/** What was observed at the path of an entry. */
export interface EntryFacts {
  readonly found: FileInfo | null;
  /** Whether a file has the bytes of the config, or ends with them if it keeps existing contents. */
  readonly hasContents: boolean;
  /** The desired owners as numbers. Null: the config does not specify them. */
  readonly owners: { readonly uid: number | null; readonly gid: number | null };
  /** The inode of the target of a hard link. */
  readonly targetInode: number | null;
}

/** The fields that are compared. */
export type ComparedEntry = Exclude<DesiredEntry, DesiredFile> | ComparedFile;
export type ComparedFile = Omit<DesiredFile, 'bytes' | 'of'>;

export function compareEntry(entry: ComparedEntry, facts: EntryFacts): Difference[] {
  const { found } = facts;
  if (found === null) return [isMissing(entry)];
  switch (entry.kind) {
    case 'file':
      return found.kind === 'file' ? compareFile(entry, found, facts) : [isOther(entry, 'file', found)];
    case 'directory':
      if (found.kind !== 'directory') return [isOther(entry, 'directory', found)];
      return [...compareMode(entry, found.mode), ...compareOwners(entry, found, facts)];
    case 'link':
      if (found.kind !== 'link') return [isOther(entry, 'link', found)];
      return [...compareTarget(entry, found.target), ...compareOwners(entry, found, facts)];
    case 'hard link':
      return compareHardLink(entry, found, facts);
  }
}

function compareFile(entry: ComparedFile, found: Extract<FileInfo, { kind: 'file' }>, facts: EntryFacts): Difference[] {
  const rights = [...compareMode(entry, found.mode), ...compareOwners(entry, found, facts)];
  if (facts.hasContents) return rights;
  const { size } = entry.contents;
  const text = entry.keepsExisting
    ? `expected the config's ${size} bytes at its end, found other contents (${found.size} bytes in total)`
    : `expected contents of ${size} bytes, found other contents of ${found.size} bytes`;
  return [entryDifference('file', entry, text, !entry.keepsExisting), ...rights];
}

function compareMode(entry: ComparedFile | DesiredDirectory, found: number): Difference[] {
  if (entry.leaves.has('mode') || entry.mode === found) return [];
  return [entryDifference('permission', entry, `expected mode ${octal(entry.mode)}, found ${octal(found)}`)];
}

function octal(mode: number): string {
  return mode.toString(8).padStart(4, '0');
}

function compareOwners(
  entry: { path: string; kind: string },
  { uid, gid }: Owners,
  { owners }: EntryFacts,
): Difference[] {
  const [user, group] = [owners.uid ?? uid, owners.gid ?? gid];
  if (user === uid && group === gid) return [];
  return [entryDifference('owner', entry, `expected owner ${user}:${group}, found ${uid}:${gid}`)];
}

function compareTarget(entry: Extract<ComparedEntry, { kind: 'link' }>, found: string): Difference[] {
  if (entry.target === found) return [];
  return [
    entryDifference(
      'link',
      entry,
      `expected a link to ${sanitizeName(entry.target)}, found a link to ${sanitizeName(found)}`,
    ),
  ];
}

function compareHardLink(
  entry: Extract<ComparedEntry, { kind: 'hard link' }>,
  found: FileInfo,
  { targetInode }: EntryFacts,
): Difference[] {
  if (found.kind === 'file' && found.inode === targetInode) return [];
  return [
    entryDifference(
      'link',
      entry,
      `expected a hard link to ${sanitizeName(entry.target)}, found ${describeKind(found)} that is not linked to it`,
    ),
  ];
}

/** Existing contents before the config's bytes belonged to the OS, and the daemon has no copy of them. */
function isMissing(entry: ComparedEntry): Difference {
  const canHeal = entry.kind !== 'file' || !entry.keepsExisting;
  return entryDifference('missing', entry, `expected a ${entry.kind}, found nothing`, canHeal);
}

function isOther(entry: ComparedEntry, kind: DriftKind, found: FileInfo): Difference {
  const canHeal = entry.kind !== 'file' || !entry.keepsExisting;
  return entryDifference(kind, entry, `expected a ${entry.kind}, found ${describeKind(found)}`, canHeal);
}

function describeKind(found: FileInfo): string {
  if (found.kind === 'other') return 'a device, a socket or a pipe';
  return found.kind === 'link' ? `a link to ${sanitizeName(found.target)}` : `a ${found.kind}`;
}

function entryDifference(
  kind: DriftKind,
  entry: { path: string; kind: string },
  text: string,
  canHeal = true,
): Difference {
  return { kind, name: entry.path, message: `${entry.kind} ${sanitizeName(entry.path)}: ${text}`, canHeal };
}

export interface UnitFacts {
  /** The output of `systemctl is-enabled`. '' if it was not queried. */
  readonly enablement: string;
  /** Of its links, which it had when the machine reached its config. */
  readonly missingLinks: readonly string[];
  /** A link to /dev/null replaces its unit file. */
  readonly isMasked: boolean;
}

const NOT_ENABLED: ReadonlySet<string> = new Set(['disabled', 'masked', 'masked-runtime', 'not-found']);
const NOT_DISABLED: ReadonlySet<string> = new Set(['enabled', 'enabled-runtime']);

/** States that do not depend on links below /etc. */
const OUT_OF_REACH: ReadonlySet<string> = new Set(['masked-runtime', 'not-found', 'enabled-runtime']);

export function compareUnit({ name, enabled, unmasked }: DesiredUnit, facts: UnitFacts): Difference[] {
  if (unmasked && facts.isMasked) return [unitDifference(name, 'expected it to be unmasked, found it masked', true)];
  if (enabled === null) return [];
  const refused = enabled ? NOT_ENABLED : NOT_DISABLED;
  if (!refused.has(facts.enablement)) return enabled ? compareLinks(name, facts.missingLinks) : [];
  const text = `expected it to be ${enabled ? 'enabled' : 'disabled'}, found it ${facts.enablement}`;
  return [unitDifference(name, text, !OUT_OF_REACH.has(facts.enablement))];
}

/** To systemd, a unit with one of its links is enabled. */
function compareLinks(name: string, missing: readonly string[]): Difference[] {
  if (missing.length === 0) return [];
  const paths = truncate(missing.map(sanitizeName).join(', '), MAX_VALUE_CHARS);
  const text = `expected it to be enabled with all links of its [Install] section, found no ${paths}`;
  return [unitDifference(name, text, true)];
}

function unitDifference(name: string, text: string, canHeal: boolean): Difference {
  return { kind: 'unit', name, message: `unit ${name}: ${text}`, canHeal };
}

export interface ObservedOS {
  readonly booted: Deployment;
  readonly fips: boolean | null;
}

export function compareOS(expected: DesiredOS, { booted, fips }: ObservedOS): Difference[] {
  const wrong: Difference[] = [];
  if (!isImage(expected.image, booted)) {
    wrong.push(osDifference('os image', 'osImageURL', expected.image, booted.image));
  }
  wrong.push(...compareArguments(expected, booted.kernelArguments));
  if (booted.image !== '') wrong.push(...comparePackages(expected, booted.packages));
  // A kernel without FIPS mode does not drift. Such a machine joined before that was checked, and must get its updates.
  if (fips !== null && fips !== expected.fips) {
    wrong.push(osDifference('fips', 'fips', String(expected.fips), String(fips)));
  }
  return wrong;
}

/** The same digest is the same OS, whichever registry it was pulled from. */
function isImage(wanted: string, { image, digest }: Deployment): boolean {
  if (wanted === '' || image === '' || wanted === image) return true;
  const wantedDigest = parseDigest(wanted);
  return wantedDigest !== '' && [digest, parseDigest(image)].includes(wantedDigest);
}

/** Every kernel has arguments, so an empty list means unknown. */
function compareArguments(expected: DesiredOS, found: readonly string[]): Difference[] {
  if (found.length === 0) return [];
  const left = [...found];
  const lacking = expected.kernelArguments.filter((argument) => {
    const at = left.indexOf(argument);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
  const unwanted = expected.noKernelArguments.filter((argument) => found.includes(argument));
  if (lacking.length + unwanted.length === 0) return [];
  const wanted = [
    ...(lacking.length === 0 ? [] : [`also ${lacking.join(' ')}`]),
    ...(unwanted.length === 0 ? [] : [`not ${unwanted.join(' ')}`]),
  ].join(', and ');
  return [osDifference('kernel arguments', 'kernelArguments', wanted, found.join(' '))];
}

function comparePackages(expected: DesiredOS, found: readonly string[]): Difference[] {
  const wrong: Difference[] = [];
  const lacks = (packages: readonly string[]) => packages.some((name) => !found.includes(name));
  const extensions = expected.extensions.filter((name) => lacks(listExtensionPackages([name])));
  const installed = found.join(' ') || 'no packages in addition to those of the image';
  if (extensions.length > 0) wrong.push(osDifference('extensions', 'extensions', extensions.join(' '), installed));
  const others = ['realtime', '64k-pages'].filter((kernelType) => kernelType !== expected.kernelType);
  const hasOther = others.some((kernelType) => !lacks(listKernelPackages(kernelType)));
  if (hasOther || lacks(listKernelPackages(expected.kernelType))) {
    wrong.push(osDifference('kernel type', 'kernelType', expected.kernelType, installed));
  }
  return wrong;
}

/** The OS changes only with a reboot, so the daemon cannot heal these. */
function osDifference(kind: DriftKind, field: string, expected: string, found: string): Difference {
  // Kernel arguments may contain passwords, for example of iSCSI.
  const show = (value: string) => truncate(maskSecrets(value), MAX_VALUE_CHARS);
  const message = `spec.${field}: expected ${show(expected)}, the machine runs with ${show(found)}`;
  return { kind, name: field, message, canHeal: false };
}
