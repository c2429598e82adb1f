// The desired contents of a machine's disk, as plain data. Implicit parent directories are not listed.

/** A user or group by number, or by a name that the machine itself looks up. */
export type Owner = { readonly id: number } | { readonly name: string };

interface Node {
  readonly path: string;
  readonly user: Owner;
  readonly group: Owner;
}

export interface DiskFile extends Node {
  readonly kind: 'file';
  readonly mode: number;
  readonly bytes: Uint8Array;
  /**
   * The config has no contents for it: if the machine has this file, it stays, and `bytes` are appended; mode and owner
   * then change only if the config sets them.
   */
  readonly keepsExisting: boolean;
  /** The kind of its source in the config. */
  readonly of: 'file' | 'unit' | 'drop-in';
}

export interface DiskDirectory extends Node {
  readonly kind: 'directory';
  readonly mode: number;
  /** An existing directory stays with its contents; mode and owner then change only if the config sets them. */
  readonly keepsExisting: boolean;
}

export interface DiskLink extends Node {
  readonly kind: 'link';
  /** The text of the link: perhaps relative, and valid on the machine, not below a mounted root. */
  readonly target: string;
  /** `mask` is a link to /dev/null in place of a unit. */
  readonly of: 'link' | 'mask';
}

/** A second name of a file. */
export interface DiskHardLink {
  readonly kind: 'hard link';
  readonly path: string;
  readonly target: string;
}

export type DiskEntry = DiskFile | DiskDirectory | DiskLink | DiskHardLink;

/** A line of the preset file. Ignition 2.24 and later omit a `disable` if nothing was enabled. */
export interface Preset {
  readonly action: 'enable' | 'disable';
  /** Such as `crio.service`, or for a template `getty@.service` with its instances. */
  readonly unit: string;
  readonly instances: readonly string[];
  /** The line in the file, without the newline. */
  readonly line: string;
}

export interface DiskUser {
  readonly name: string;
  readonly shouldExist: boolean;
  /** Omitted fields are chosen by useradd on the machine, or stay unchanged for an existing user. */
  readonly uid?: number;
  readonly gecos?: string;
  readonly homeDir?: string;
  readonly shell?: string;
  readonly primaryGroup?: string;
  readonly groups: readonly string[];
  /** As in /etc/shadow; absent: `*` for a new user, unchanged for an existing one. */
  readonly passwordHash?: string;
  /** Below the home directory, owned by the user; absent without keys. */
  readonly sshKeys?: SshKeys;
}

export interface SshKeys {
  /** The file that Ignition writes by default, and the one it writes on an OS without key fragments. */
  readonly paths: readonly [fragment: string, whole: string];
  readonly mode: number;
  readonly bytes: Uint8Array;
}

export interface DiskGroup {
  readonly name: string;
  readonly shouldExist: boolean;
  readonly gid?: number;
  readonly passwordHash?: string;
}

export interface DiskPlan {
  /** By path, each path once. */
  readonly entries: readonly DiskEntry[];
  /** The lines of /etc/systemd/system-preset/20-ignition.preset. Ignition before 2.24 writes them in any order. */
  readonly presets: readonly Preset[];
  /** Paths of units that must not be masked: a link to /dev/null there is removed. */
  readonly unmasked: readonly string[];
  readonly users: readonly DiskUser[];
  readonly groups: readonly DiskGroup[];
  /** From the Ignition config, not from spec.kernelArguments of the MachineConfig. */
  readonly kernelArguments: { readonly shouldExist: readonly string[]; readonly shouldNotExist: readonly string[] };
}

export const PRESET_PATH = '/etc/systemd/system-preset/20-ignition.preset';
export const UNIT_DIRECTORY = '/etc/systemd/system';
export const DEFAULT_FILE_MODE = 0o644;
export const DEFAULT_DIRECTORY_MODE = 0o755;
