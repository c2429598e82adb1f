// Shared by the rules of all nouns: differences between spec versions other than fields, and the nouns of a 3.x
// config.
import { isAbsolute, isClean } from '../posix-path.ts';
import { show } from '../report.ts';
import type { Config } from '../spec/index.ts';
import { atLeast, type SpecVersion } from '../version.ts';

export interface Rules {
  readonly version: SpecVersion;
  readonly hashes: readonly ('sha256' | 'sha512')[];
  readonly schemes: readonly string[];
  readonly filesystemFormats: readonly string[];
  /** A resource in `config.merge` or among the certificate authorities needs a source. */
  readonly sourceRequired: boolean;
  /** Setuid, setgid and sticky bits of a mode are honoured; in older specs they only cause a warning. */
  readonly specialModeBits: boolean;
  /** Null: any pin. */
  readonly clevisPins: readonly string[] | null;
  /** The target of a link may be empty; until 3.2 it is not checked. */
  readonly emptyTarget: boolean;
  /** An empty `custom` object counts as present. */
  readonly customIsPointer: boolean;
}

const DISK_FORMATS = ['ext4', 'btrfs', 'xfs', 'swap', 'vfat'];

const cache = new Map<SpecVersion, Rules>();

export function getRules(version: SpecVersion): Rules {
  const known = cache.get(version);
  if (known !== undefined) return known;
  const rules: Rules = {
    version,
    hashes: atLeast(version, '3.1.0') ? ['sha512', 'sha256'] : ['sha512'],
    schemes: listSchemes(version),
    filesystemFormats: atLeast(version, '3.3.0') ? [...DISK_FORMATS, 'none'] : DISK_FORMATS,
    sourceRequired: atLeast(version, '3.1.0'),
    specialModeBits: atLeast(version, '3.6.0'),
    clevisPins: atLeast(version, '3.6.0') ? null : ['tpm2', 'tang', 'sss'],
    emptyTarget: !atLeast(version, '3.3.0'),
    customIsPointer: !atLeast(version, '3.3.0'),
  };
  cache.set(version, rules);
  return rules;
}

function listSchemes(version: SpecVersion): string[] {
  const schemes = ['http', 'https', 'tftp', 's3', 'data'];
  if (!atLeast(version, '3.0.0')) return [...schemes, 'oem'];
  if (atLeast(version, '3.2.0')) schemes.push('gs');
  if (atLeast(version, '3.4.0')) schemes.push('arn');
  return schemes;
}

// The newest spec has every field; an older config lacks some.

type Item<L> = NonNullable<L> extends readonly (infer I)[] ? I : never;

export type Ignition = Config['ignition'];
export type Proxy = NonNullable<Ignition['proxy']>;
export type Storage = NonNullable<Config['storage']>;
export type Systemd = NonNullable<Config['systemd']>;
export type Directory = Item<Storage['directories']>;
export type Disk = Item<Storage['disks']>;
export type File = Item<Storage['files']>;
export type Filesystem = Item<Storage['filesystems']>;
export type Link = Item<Storage['links']>;
export type Luks = Item<Storage['luks']>;
export type Raid = Item<Storage['raid']>;
export type Partition = Item<Disk['partitions']>;
export type Owner = NonNullable<File['user']>;
export type Resource = NonNullable<File['contents']>;
export type Clevis = NonNullable<Luks['clevis']>;
export type Custom = NonNullable<Clevis['custom']>;
export type Tang = Item<Clevis['tang']>;
export type Unit = Item<Systemd['units']>;

/** The problem with a path of a 3.x config, or null. */
export function pathProblem(path: string): string | null {
  if (path === '') return 'the path is missing';
  if (!isAbsolute(path)) return `the path ${show(path)} is relative: start it with "/"`;
  if (!isClean(path))
    return `the path ${show(path)} is not in its shortest form: remove "//", ".", ".." and a trailing "/"`;
  return null;
}

/** The length of a text in UTF-8 bytes. */
export function utf8Length(text: string): number {
  let length = text.length;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code < 0x80) continue;
    // A surrogate is half of a four-byte character; any other from U+0800 has three bytes.
    length += code < 0x800 || (code >= 0xd800 && code <= 0xdfff) ? 1 : 2;
  }
  return length;
}
