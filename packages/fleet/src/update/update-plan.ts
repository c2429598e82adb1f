// What an update does to a machine, as plain data: a daemon executes it, commands and pages show it.
// It has no contents and password hashes: the daemon takes them from the config by path.
import type { DisruptionAction } from '@slipway/api';
import type { updateErrors } from '../errors.ts';
import type { Owner } from '../disk/disk-plan.ts';

export interface UpdatePlan {
  /** Names of the rendered configs. */
  readonly from: string;
  readonly to: string;
  /** Both configs describe the same machine: only annotations change. */
  readonly isEmpty: boolean;
  /** All differences as steps, in execution order. */
  readonly changes: readonly Change[];
  /** Changes that a running machine cannot make. If there are any, nothing of the plan is executed. */
  readonly irreconcilable: readonly Irreconcilable[];
  /** The same, but tolerated by users: the update continues without them. */
  readonly tolerated: readonly Irreconcilable[];
  /** Actions after the changes are on disk, in order; `Drain` comes before the first change. */
  readonly actions: readonly NodeAction[];
  /** A reboot also needs one: without a drain it would kill the pods. */
  readonly needsDrain: boolean;
  /** Why these actions: what each changed item requires, and by which rule. */
  readonly causes: readonly Cause[];
}

export type Change =
  | PathChange
  | UnitChange
  | SshKeysChange
  | PasswordChange
  | KernelArgumentsChange
  | ExtensionsChange
  | SettingChange;

export interface ContentsReference {
  /** 64 hex digits. */
  readonly sha256: string;
  readonly size: number;
}

interface Owned {
  readonly user: Owner;
  readonly group: Owner;
}

/** What is at a path. `of` is the kind of its source in the config. */
export type PathState =
  | (Owned & {
      readonly kind: 'file';
      readonly of: 'file' | 'unit' | 'drop-in';
      readonly mode: number;
      readonly contents: ContentsReference;
      /** The config has no contents for it: those of the OS stay, and `contents` are appended. */
      readonly keepsExisting: boolean;
    })
  | (Owned & { readonly kind: 'directory'; readonly of: 'directory'; readonly mode: number })
  | (Owned & { readonly kind: 'link'; readonly of: 'link' | 'mask'; readonly target: string })
  | { readonly kind: 'hard link'; readonly of: 'link'; readonly target: string };

export interface PathChange {
  readonly kind: 'path';
  readonly path: string;
  readonly change: 'added' | 'removed' | 'changed';
  /** What differs in a changed path. `kind`: for example, a file becomes a mask. */
  readonly differs: readonly ('kind' | 'contents' | 'mode' | 'owner' | 'target')[];
  readonly before: PathState | null;
  /** Null: what the OS has at this path, otherwise nothing. A directory that is not empty stays. */
  readonly after: PathState | null;
  /** Neither its contents nor their digest may be shown: a short secret can be guessed from a digest. */
  readonly secret: boolean;
}

export interface UnitState {
  /** `preset`: the default of the OS, whether or not the config names the unit. */
  readonly enabled: 'enabled' | 'disabled' | 'preset';
  /** The config sets mask to false: a mask from elsewhere is removed. Masks of the config are paths. */
  readonly unmasked: boolean;
}

/** One per changed unit, after all paths. */
export interface UnitChange {
  readonly kind: 'unit';
  readonly unit: string;
  /**
   * Its file, mask or a drop-in changes, and perhaps its WantedBy: it must be disabled first, and set to `after` once
   * that is done, even if `after` equals `before`.
   */
  readonly rewritten: boolean;
  readonly before: UnitState;
  readonly after: UnitState;
}

export interface SshKeysChange {
  readonly kind: 'ssh keys';
  readonly user: 'core';
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** The file with the keys; null: there is none. */
  readonly before: ContentsReference | null;
  readonly after: ContentsReference | null;
}

export interface PasswordChange {
  readonly kind: 'password';
  readonly user: 'core';
  /** `set`: the config sets it, perhaps to no password. */
  readonly before: 'set' | 'none';
  /** `none`: password login is impossible, which is not the same as an empty password. */
  readonly after: 'set' | 'none';
}

/** Removing each of `removed`, as often as listed, and appending `added` turns `before` into `after`. */
export interface KernelArgumentsChange {
  readonly kind: 'kernel arguments';
  readonly before: readonly string[];
  readonly after: readonly string[];
  readonly removed: readonly string[];
  readonly added: readonly string[];
}

export interface ExtensionsChange {
  readonly kind: 'extensions';
  readonly removed: readonly string[];
  readonly added: readonly string[];
}

export interface SettingChange {
  readonly kind: 'setting';
  readonly setting: 'osImageURL' | 'baseOSExtensionsContainerImage' | 'kernelType' | 'fips';
  /** '' where there is none. */
  readonly before: string;
  readonly after: string;
}

export interface Irreconcilable {
  readonly code: keyof typeof updateErrors;
  /** Such as `spec.config.storage.disks[/dev/sda].wipeTable`. */
  readonly field: string;
  /** Masked and truncated; null: absent. */
  readonly before: string | null;
  readonly after: string | null;
  /** Names the config and the field, what was observed, and what to do. */
  readonly message: string;
}

type UnitAction = 'Reload' | 'Restart';

/** Every action that a policy can request: a new one does not compile until it is planned, shown and executed. */
export type NodeAction =
  | { readonly type: Exclude<DisruptionAction, UnitAction | 'None'> }
  | { readonly type: UnitAction; readonly unit: string };

/** An item that a policy can cover, or that always requires a reboot. */
export interface ChangedItem {
  readonly kind: 'file' | 'unit' | 'ssh keys' | 'password' | 'machine setting';
  /** The path, the unit, the user, the field of the MachineConfig. */
  readonly name: string;
}

export interface Cause {
  readonly item: ChangedItem;
  /** Empty: it requires no action. */
  readonly actions: readonly NodeAction[];
  /** Which rule requires them. `nothing`: no entry covers the item. */
  readonly rule: 'user' | 'default' | 'always' | 'nothing';
  /** The path, directory or unit of the entry; '' if there is none. */
  readonly entry: string;
  /** A human-readable clause. */
  readonly because: string;
}
