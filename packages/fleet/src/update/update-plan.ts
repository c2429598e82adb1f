// What an update does to a machine, as plain data: for a daemon to carry out, for a command and a page to show.
// Contents and password hashes are not in it: who carries it out takes them from the config, by path.
import type { DisruptionAction } from '@slipway/api';
import type { updateErrors } from '../errors.ts';
import type { Owner } from '../disk/disk-plan.ts';

export interface UpdatePlan {
  /** Names of the rendered configs. */
  readonly from: string;
  readonly to: string;
  /** The machine is the same under both: only annotations move. */
  readonly isEmpty: boolean;
  /** All that differs, each a step, in the order in which they are carried out. */
  readonly changes: readonly Change[];
  /** What cannot be done on a running machine. If there is any, nothing of the plan is carried out. */
  readonly irreconcilable: readonly Irreconcilable[];
  /** The same, but users let it pass: the update goes on without it. */
  readonly tolerated: readonly Irreconcilable[];
  /** What follows once the changes are on the disk, in order; `Drain` comes before the first change. None: nothing. */
  readonly actions: readonly NodeAction[];
  /** A reboot takes the pods away as a drain does, but without asking them: so it needs one as well. */
  readonly needsDrain: boolean;
  /** Why these actions: what each thing that changes asks for, and by which rule. */
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

/** What is at a path. `of` is what in the config it was made from. */
export type PathState =
  | (Owned & {
      readonly kind: 'file';
      readonly of: 'file' | 'unit' | 'drop-in';
      readonly mode: number;
      readonly contents: ContentsReference;
      /** The config has no contents of its own for it: those of the OS stay, and `contents` come after them. */
      readonly keepsExisting: boolean;
    })
  | (Owned & { readonly kind: 'directory'; readonly of: 'directory'; readonly mode: number })
  | (Owned & { readonly kind: 'link'; readonly of: 'link' | 'mask'; readonly target: string })
  | { readonly kind: 'hard link'; readonly of: 'link'; readonly target: string };

export interface PathChange {
  readonly kind: 'path';
  readonly path: string;
  readonly change: 'added' | 'removed' | 'changed';
  /** For what is changed: in what. `kind` is that a file becomes a mask, for example. */
  readonly differs: readonly ('kind' | 'contents' | 'mode' | 'owner' | 'target')[];
  readonly before: PathState | null;
  /** Null: back to what the OS itself has at this path, else nothing. A directory that others put things in stays. */
  readonly after: PathState | null;
  /** Its contents may not be shown, and no digest of them either: a short secret can be guessed from it. */
  readonly secret: boolean;
}

export interface UnitState {
  /** `preset`: as the OS has it, whether or not the config knows the unit. */
  readonly enabled: 'enabled' | 'disabled' | 'preset';
  /** The config says that it is not masked: a mask that others made goes. Masks of the config are paths. */
  readonly unmasked: boolean;
}

/** One for each unit of which anything changes, after all paths. */
export interface UnitChange {
  readonly kind: 'unit';
  readonly unit: string;
  /**
   * Its file, mask or a drop-in changes, and perhaps what it is wanted by: it has to be disabled before that, and brought to
   * `after` when it is done, though that may be the same as `before`.
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
  /** `set`: as the config says, which may also be that there is none. */
  readonly before: 'set' | 'none';
  /** `none`: nobody can log in with a password, which is not the empty one. */
  readonly after: 'set' | 'none';
}

/** Removing `removed`, each as often as it stands there, and appending `added` makes `after` of `before`, in its order. */
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
  /** As they may be shown, and cut where they are long; null: was not, or is no longer, there. */
  readonly before: string | null;
  readonly after: string | null;
  /** Names the config and the field, what was found, and the way out. */
  readonly message: string;
}

type UnitAction = 'Reload' | 'Restart';

/** All that a policy can ask for: what is new there does not compile until it is planned, shown and carried out. */
export type NodeAction =
  | { readonly type: Exclude<DisruptionAction, UnitAction | 'None'> }
  | { readonly type: UnitAction; readonly unit: string };

/** What a policy has an entry for, or what always costs a reboot. */
export interface ChangedItem {
  readonly kind: 'file' | 'unit' | 'ssh keys' | 'password' | 'machine setting';
  /** The path, the unit, the user, the field of the MachineConfig. */
  readonly name: string;
}

export interface Cause {
  readonly item: ChangedItem;
  /** None: nothing has to be done for it. */
  readonly actions: readonly NodeAction[];
  /** Whose rule asks for them. `nothing`: no entry covers the item. */
  readonly rule: 'user' | 'default' | 'always' | 'nothing';
  /** The path, directory or unit of the entry; '' where there is none. */
  readonly entry: string;
  /** For people: one sentence. */
  readonly because: string;
}
