// What a running machine cannot become: it was settled when the machine was installed.
import { truncate } from '@slipway/base/text';
import type { MachineConfiguration } from '@slipway/api';
import { diffConfigs, type ItemDiff } from '@slipway/ignition';
import { HIDDEN, maskedDiff } from '../masking.ts';
import type { RenderedIgnition } from '../render/ignition.ts';
import { CORE } from './settings.ts';
import type { Change, Irreconcilable, PathChange, PathState, SettingChange } from './update-plan.ts';

export interface Configs {
  readonly current: RenderedIgnition;
  readonly desired: RenderedIgnition;
  /** The name of the rendered config that asks for it. */
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
  /** Follows the field: what it is that cannot be done. */
  readonly why: string;
  readonly wayOut?: string;
}

/** Values come from a config of any size, and messages go into conditions and annotations. */
const MAX_SHOWN = 200;

function irreconcilable(name: string, difference: Difference): Irreconcilable {
  const { field, why, wayOut = INSTALL } = difference;
  const [before, after] = [cut(difference.before), cut(difference.after)];
  const change = `${before ?? 'nothing'} → ${after ?? 'nothing'}`;
  const message = `MachineConfig ${name}, ${field}: ${why} (${change}). ${wayOut}`;
  return { code: 'SLW_UPDATE_IRRECONCILABLE', field, before, after, message };
}

const INSTALL =
  'Take the change back in the MachineConfig that it comes from, or install the machine anew: new machines get it at their first boot';

const cut = (text: string | null): string | null => (text === null ? null : truncate(text, MAX_SHOWN));

/** Sections that no change of a plan speaks of, by what `diffConfigs` calls the things in them. */
const SECTIONS: Readonly<Record<string, { section: string; why: string }>> = {
  disk: { section: 'storage.disks', why: 'partitions are made when a machine is installed' },
  raid: { section: 'storage.raid', why: 'RAID arrays are made when a machine is installed' },
  luks: { section: 'storage.luks', why: 'volumes are encrypted when a machine is installed' },
  filesystem: { section: 'storage.filesystems', why: 'filesystems are made when a machine is installed' },
  user: { section: 'passwd.users', why: 'of a running machine’s users, only ssh keys and password of core can change' },
  group: { section: 'passwd.groups', why: 'groups are made when a machine is installed' },
  'kernel arguments': {
    section: 'kernelArguments',
    why: 'Ignition sets these only at the first boot; spec.kernelArguments of a MachineConfig can change at any time',
  },
};

async function sectionDifferences({ current, desired }: Configs): Promise<Difference[]> {
  const { items } = await diffConfigs(settledIn(current), settledIn(desired), maskedDiff());
  return (items ?? []).flatMap(listDifferences);
}

/** The part of a config that is settled at installation. Timeouts, proxies and CAs of Ignition itself matter only then. */
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
  const told = [...fields, ...hidden].filter((each) => !isDefault(each));
  if (change === 'changed') return told.map(({ name: leaf, ...rest }) => ({ field: `${field}.${leaf}`, why, ...rest }));
  // Core is there whether or not a config speaks of it.
  if (noun === 'user' && name === CORE && told.length === 0) return [];
  const summary = told.map((each) => `${each.name}: ${each.after ?? each.before ?? ''}`).join(', ');
  const thing = summary === '' ? noun : summary;
  return [{ field, why, before: change === 'added' ? null : thing, after: change === 'added' ? thing : null }];
}

/** To say what is so anyway is no difference. */
function isDefault({ name, before, after }: ItemDiff['fields'][number]): boolean {
  const usual = name.endsWith('shouldExist') ? 'true' : 'false';
  return (before === null && after === usual) || (before === usual && after === null);
}

function differenceIn(change: Change): Difference[] {
  if (change.kind === 'path') return pathDifference(change);
  return change.kind === 'setting' && change.setting === 'fips' ? [fipsDifference(change)] : [];
}

function fipsDifference({ before, after }: SettingChange): Difference {
  const remediation = `Set it to ${before} again, or install the machine anew`;
  return {
    field: 'spec.fips',
    before,
    after,
    why: 'FIPS mode is settled when a machine is installed',
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
    const why = `a ${after.kind} cannot be added to a running machine or changed there, only removed`;
    return [{ field: `spec.config.storage.${LISTS[after.kind]}[${path}]`, ...shown, why, wayOut: FILE_OR_INSTALL }];
  }
  if (appends(after) || (appends(before) && !isWhole(after))) {
    const why = 'what is appended to a file of the OS cannot be told apart from the rest of it later';
    return [{ field: `spec.config.storage.files[${path}].append`, ...shown, why, wayOut: CONTENTS }];
  }
  return [];
}

const FILE_OR_INSTALL =
  'Take it back, let a unit of yours make it, or install the machine anew: directories above files are made with them';
const CONTENTS = 'Give the file its whole contents instead, or install the machine anew';

/** Behind contents of its own, what is appended is a part of them like any other. */
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

// Differences that users let pass, though a running machine cannot take them on: new machines get them at their first boot.

/** `spec.irreconcilableValidationOverrides` of the MachineConfiguration. */
export type ValidationOverrides = NonNullable<MachineConfiguration['spec']['irreconcilableValidationOverrides']>;

type StorageSection = NonNullable<ValidationOverrides['storage']>[number];

const TOLERABLE_SECTIONS: Readonly<Record<StorageSection, string>> = {
  Disks: 'spec.config.storage.disks',
  FileSystems: 'spec.config.storage.filesystems',
  Raid: 'spec.config.storage.raid',
};

/** Whether a field is one of those. */
export function toleratedBy(overrides: ValidationOverrides | undefined): (field: string) => boolean {
  const sections = (overrides?.storage ?? []).map((part) => TOLERABLE_SECTIONS[part]);
  return (field) => sections.some((section) => field === section || field.startsWith(`${section}[`));
}

/**
 * What a machine lacks of its config, after an update that let `now` pass, where it lacked `earlier` before: in each field,
 * from what the machine really has to what the config says.
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
