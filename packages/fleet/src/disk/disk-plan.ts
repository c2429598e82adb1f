// What a machine's disk must look like, as plain data. Parents that are made on the way are not listed.

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
   * The config brings no contents of its own: if the machine has such a file, it stays, and `bytes` come after what is in
   * it; mode and owner then change only where the config names them.
   */
  readonly keepsExisting: boolean;
  /** What it was made from. */
  readonly of: 'file' | 'unit' | 'drop-in';
}

export interface DiskDirectory extends Node {
  readonly kind: 'directory';
  readonly mode: number;
  /** A directory that is there stays with what is in it; mode and owner then change only where the config names them. */
  readonly keepsExisting: boolean;
}

export interface DiskLink extends Node {
  readonly kind: 'link';
  /** As it stands in the link: perhaps relative, and for a machine, not for the root it is mounted at. */
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

/** A line of the preset file. Clients from 2.24 leave a `disable` out where nothing was enabled. */
export interface Preset {
  readonly action: 'enable' | 'disable';
  /** Such as `crio.service`, or for a template `getty@.service` with its instances. */
  readonly unit: string;
  readonly instances: readonly string[];
  /** As it stands in the file, without the end of the line. */
  readonly line: string;
}

export interface DiskUser {
  readonly name: string;
  readonly shouldExist: boolean;
  /** What is left out is for the machine's own useradd to choose, or stays as it is for a user that exists. */
  readonly uid?: number;
  readonly gecos?: string;
  readonly homeDir?: string;
  readonly shell?: string;
  readonly primaryGroup?: string;
  readonly groups: readonly string[];
  /** As in /etc/shadow; absent: `*` for a new user, unchanged for one that exists. */
  readonly passwordHash?: string;
  /** Below the home directory, owned by the user; absent where there are no keys. */
  readonly sshKeys?: SshKeys;
}

export interface SshKeys {
  /** The one the client writes by default, and the one it writes where the OS is built without fragments. */
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
  /** The lines of /etc/systemd/system-preset/20-ignition.preset. Clients before 2.24 write them in any order. */
  readonly presets: readonly Preset[];
  /** Paths of units that must not be masked: a link to /dev/null there is removed. */
  readonly unmasked: readonly string[];
  readonly users: readonly DiskUser[];
  readonly groups: readonly DiskGroup[];
  /** From Ignition's own section, not from the MachineConfig. */
  readonly kernelArguments: { readonly shouldExist: readonly string[]; readonly shouldNotExist: readonly string[] };
}

export const PRESET_PATH = '/etc/systemd/system-preset/20-ignition.preset';
export const UNIT_DIRECTORY = '/etc/systemd/system';
export const DEFAULT_FILE_MODE = 0o644;
export const DEFAULT_DIRECTORY_MODE = 0o755;
