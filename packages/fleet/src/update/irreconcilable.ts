// Changes that a running machine cannot make, because they are fixed at installation.
import { HIDDEN } from '@slipway/base/masking';
import { truncate } from '@slipway/base/text';
import type { MachineConfiguration } from '@slipway/api';
import { diffConfigs, type ItemDiff } from '@slipway/ignition';
import { maskedDiff } from '../masking.ts';
import type { RenderedIgnition } from '../render/ignition.ts';
import { CORE } from './settings.ts';
import type { Change, Irreconcilable, PathChange, PathState, SettingChange } from './update-plan.ts';

export interface Configs {
  readonly current: RenderedIgnition;
  readonly desired: RenderedIgnition;
  /** The name of the rendered config that requires it. */
  readonly name: string;
}

export async function irreconcilableIn(configs: Configs, changes: readonly Change[]): Promise<Irreconcilable[]> {
  const differences = [...(await sectionDifferences(configs)), ...changes.flatMap(differenceIn)];
  return differences.map((difference) => irreconcilable(configs.name, difference));
}

interface Difference {
  readonly field: string;
  readonly before: string | null;
  readonly after: string | null;
  /** Follows the field: why the change is impossible. */
  readonly why: string;
  readonly wayOut?: string;
}

/** Values can be long, and messages are stored in conditions and annotations. */
const MAX_SHOWN = 200;

function irreconcilable(name: string, difference: Difference): Irreconcilable {
  const { field, why, wayOut = INSTALL } = difference;
  const [before, after] = [cut(difference.before), cut(difference.after)];
  const change = `${before ?? 'nothing'} → ${after ?? 'nothing'}`;
  const message = `MachineConfig ${name}, ${field}: ${why} (${change}). ${wayOut}`;
  return { code: 'SLW_UPDATE_IRRECONCILABLE', field, before, after, message };
}

const INSTALL =
  'Undo the change in its MachineConfig, or reinstall the machine: new machines apply it at their first boot';

const cut = (text: string | null): string | null => (text === null ? null : truncate(text, MAX_SHOWN));

/** Sections that no change of a plan covers, by the nouns of `diffConfigs`. */
const SECTIONS: Readonly<Record<string, { section: string; why: string }>> = {
  disk: { section: 'storage.disks', why: 'partitions are created only at installation' },
  raid: { section: 'storage.raid', why: 'RAID arrays are created only at installation' },
  luks: { section: 'storage.luks', why: 'volumes are encrypted only at installation' },
  filesystem: { section: 'storage.filesystems', why: 'filesystems are created only at installation' },
  user: {
    section: 'passwd.users',
    why: 'on a running machine, only the ssh keys and the password of user core can change',
  },
  group: { section: 'passwd.groups', why: 'groups are created only at installation' },
  'kernel arguments': {
    section: 'kernelArguments',
    why: 'Ignition sets these only at the first boot; use spec.kernelArguments of the MachineConfig instead',
  },
};

async function sectionDifferences({ current, desired }: Configs): Promise<Difference[]> {
  const { items } = await diffConfigs(settledIn(current), settledIn(desired), maskedDiff());
  return (items ?? []).flatMap(listDifferences);
}

/** The part of a config that is fixed at installation. Ignition's timeouts, proxies and CAs matter only then. */
function settledIn({ ignition, storage = {}, passwd = {}, kernelArguments = {} }: RenderedIgnition): RenderedIgnition {
  const { disks = [], raid = [], luks = [], filesystems = [] } = storage;
  const { groups = [], users = [] } = passwd;
  return {
    ignition: { version: ignition.version },
    storage: { disks, raid, luks, filesystems },
    passwd: { groups, users: users.map(settledUser) },
    kernelArguments,
  };
}

type User = NonNullable<NonNullable<RenderedIgnition['passwd']>['users']>[number];

function settledUser(user: User): User {
  if (user.name !== CORE) return user;
  const { passwordHash: _password, sshAuthorizedKeys: _keys, ...settled } = user;
  return settled;
}

function listDifferences({ noun, name, change, fields, contents }: ItemDiff): Difference[] {
  const known = SECTIONS[noun];
  if (known === undefined) return [];
  const { section, why } = known;
  const field = `spec.config.${section}${name === '' ? '' : `[${name}]`}`;
  const hidden = contents.map((part) => ({ name: part.name, before: HIDDEN, after: `${HIDDEN}, changed` }));
  const shown = [...fields, ...hidden].filter((each) => !isDefault(each));
  if (change === 'changed')
    return shown.map(({ name: leaf, ...rest }) => ({ field: `${field}.${leaf}`, why, ...rest }));
  // User core exists whether or not a config mentions it.
  if (noun === 'user' && name === CORE && shown.length === 0) return [];
  const summary = shown.map((each) => `${each.name}: ${each.after ?? each.before ?? ''}`).join(', ');
  const thing = summary === '' ? noun : summary;
  return [{ field, why, before: change === 'added' ? null : thing, after: change === 'added' ? thing : null }];
}

/** Writing a default explicitly is not a difference. */
function isDefault({ name, before, after }: ItemDiff['fields'][number]): boolean {
  const usual = name.endsWith('shouldExist') ? 'true' : 'false';
  return (before === null && after === usual) || (before === usual && after === null);
}

function differenceIn(change: Change): Difference[] {
  if (change.kind === 'path') return pathDifference(change);
  return change.kind === 'setting' && change.setting === 'fips' ? [fipsDifference(change)] : [];
}

function fipsDifference({ before, after }: SettingChange): Difference {
  const remediation = `Set it to ${before} again, or reinstall the machine`;
  return {
    field: 'spec.fips',
    before,
    after,
    why: 'FIPS mode is fixed at installation',
    wayOut: remediation,
  };
}

const LISTS: Readonly<Record<'directory' | 'link' | 'hard link', string>> = {
  directory: 'directories',
  link: 'links',
  'hard link': 'links',
};

function pathDifference({ path, before, after }: PathChange): Difference[] {
  const shown = { before: describe(before), after: describe(after) };
  if (after !== null && after.kind !== 'file' && after.of !== 'mask') {
    const why = `on a running machine, a ${after.kind} can only be removed, not added or changed`;
    return [{ field: `spec.config.storage.${LISTS[after.kind]}[${path}]`, ...shown, why, wayOut: FILE_OR_INSTALL }];
  }
  if (appends(after) || (appends(before) && !isWhole(after))) {
    const why = 'text appended to a file of the OS cannot be distinguished from the rest later';
    return [{ field: `spec.config.storage.files[${path}].append`, ...shown, why, wayOut: CONTENTS }];
  }
  return [];
}

const FILE_OR_INSTALL =
  'Undo the change, let a systemd unit create it, or reinstall the machine. Parent directories of files are created automatically';
const CONTENTS = 'Write the complete contents of the file instead, or reinstall the machine';

/** If the config has contents for the file, appended text is simply part of them. */
function appends(state: PathState | null): boolean {
  return state?.kind === 'file' && state.keepsExisting && state.contents.size > 0;
}

function isWhole(state: PathState | null): boolean {
  return state !== null && !(state.kind === 'file' && state.keepsExisting);
}

function describe(state: PathState | null): string | null {
  if (state === null) return null;
  if ('target' in state) return `${state.kind} to ${state.target}`;
  const mode = `0${state.mode.toString(8)}`;
  return state.kind === 'file' ? `file, ${mode}, ${state.contents.size} bytes` : `directory, ${mode}`;
}

// Differences that users tolerate although a running machine cannot apply them: new machines do at their first boot.

/** `spec.irreconcilableValidationOverrides` of the MachineConfiguration. */
export type ValidationOverrides = NonNullable<MachineConfiguration['spec']['irreconcilableValidationOverrides']>;

type StorageSection = NonNullable<ValidationOverrides['storage']>[number];

const TOLERABLE_SECTIONS: Readonly<Record<StorageSection, string>> = {
  Disks: 'spec.config.storage.disks',
  FileSystems: 'spec.config.storage.filesystems',
  Raid: 'spec.config.storage.raid',
};

/** Returns whether a field is tolerated. */
export function toleratedBy(overrides: ValidationOverrides | undefined): (field: string) => boolean {
  const sections = (overrides?.storage ?? []).map((part) => TOLERABLE_SECTIONS[part]);
  return (field) => sections.some((section) => field === section || field.startsWith(`${section}[`));
}

/**
 * The differences between a machine and its config after an update that tolerated `now`, on top of `earlier` ones: for
 * each field, from the real value on the machine to the value in the config.
 */
export function addTolerated(earlier: readonly Irreconcilable[], now: readonly Irreconcilable[]): Irreconcilable[] {
  const all = new Map(earlier.map((difference) => [difference.field, difference]));
  for (const difference of now) {
    const { field, before, after } = difference;
    const known = all.get(field);
    const had = known === undefined ? before : known.before;
    if (had === after) all.delete(field);
    else all.set(field, { ...difference, before: had });
  }
  return [...all.values()].sort((a, b) => (a.field < b.field ? -1 : 1));
}
