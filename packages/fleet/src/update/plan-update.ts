// The actions that each changed item requires.
import { buildDiskPlan } from '../disk/build-disk-plan.ts';
import type { DiskPlan } from '../disk/disk-plan.ts';
import { FleetError } from '../errors.ts';
import { readIgnition, type RenderedIgnition } from '../render/ignition.ts';
import { nameOfMachineConfig } from '../render/problem.ts';
import { combineActions, needsDrain } from './actions.ts';
import { irreconcilableIn, toleratedBy, type ValidationOverrides } from './irreconcilable.ts';
import { pathChanges, unitChanges, findUnitName } from './paths.ts';
import {
  alwaysReboots,
  type NodeDisruptionPolicy,
  REGISTRIES_PATH,
  type Ruling,
  rulingForFile,
  rulingForSshKey,
  rulingForUnit,
} from './policy.ts';
import { addsMirrorsOnly } from './registries.ts';
import { coreUserChanges, kernelArgumentsChange, settingChanges, type Spec, usesExtensionsImage } from './settings.ts';
import type { Cause, Change, ChangedItem, PathChange, UpdatePlan } from './update-plan.ts';

export interface Circumstances {
  readonly policy: NodeDisruptionPolicy;
  /** Called only if the file has changed and the built-in entry applies. */
  readonly addsMirrorsOnly: () => boolean;
  /** Whether the machine uses the extensions image. Removing an extension is a change in itself. */
  readonly usesExtensionsImage: boolean;
}

/** One per item, by kind and name. */
function findCauses(changes: readonly Change[], circumstances: Circumstances): Cause[] {
  const items = new Map(changes.flatMap(itemsIn).map((item) => [`${item.kind} ${item.name}`, item]));
  return [...items]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, item]) => Object.assign({ item }, rulingFor(item, circumstances)));
}

function itemsIn(change: Change): ChangedItem[] {
  switch (change.kind) {
    case 'path':
      return itemsAt(change);
    case 'unit':
      return [{ kind: 'unit', name: change.unit }];
    case 'ssh keys':
    case 'password':
      return [{ kind: change.kind, name: change.user }];
    case 'kernel arguments':
      return [{ kind: 'machine setting', name: 'kernelArguments' }];
    case 'extensions':
      return [{ kind: 'machine setting', name: 'extensions' }];
    case 'setting':
      return [{ kind: 'machine setting', name: change.setting }];
  }
}

/** Two, if a plain file becomes a unit file or the other way round. */
function itemsAt({ path, before, after }: PathChange): ChangedItem[] {
  return [before, after].flatMap((state): ChangedItem[] => {
    if (state === null) return [];
    const unit = findUnitName(path, state);
    return [unit === null ? { kind: 'file', name: path } : { kind: 'unit', name: unit }];
  });
}

function rulingFor(
  { kind, name }: ChangedItem,
  { policy, addsMirrorsOnly, usesExtensionsImage }: Circumstances,
): Ruling {
  switch (kind) {
    case 'file':
      // The entry also covers files below its path, which are not this file.
      return rulingForFile(name, policy, () => name === REGISTRIES_PATH && addsMirrorsOnly());
    case 'unit':
      return rulingForUnit(name, policy);
    case 'ssh keys':
    case 'password':
      return rulingForSshKey(policy);
    case 'machine setting':
      if (name !== 'baseOSExtensionsContainerImage' || usesExtensionsImage) {
        return alwaysReboots(`a change of ${name} always requires a reboot, whatever the policy is`);
      }
      return { actions: [], rule: 'always', entry: '', because: 'the machine uses nothing from this image' };
  }
}

// The update of a running machine from one rendered config to another: the changes, whether they are possible, and the
// actions.

export interface PlannedConfig {
  readonly name: string;
  /** Of a rendered MachineConfig, from `renderPool` or the API server. */
  readonly spec: Spec;
}

export interface UpdateRequest {
  readonly current: PlannedConfig;
  readonly desired: PlannedConfig;
  /** The users' policy, which overrides the built-in entries. */
  readonly policy?: NodeDisruptionPolicy | undefined;
  /** Differences that users tolerate although the machine cannot apply them. */
  readonly overrides?: ValidationOverrides | undefined;
}

/** Throws a FleetError if one of the configs cannot be read. */
export async function planUpdate({ current, desired, policy = {}, overrides }: UpdateRequest): Promise<UpdatePlan> {
  const configs = {
    current: readRenderedIgnition(current),
    desired: readRenderedIgnition(desired),
    name: desired.name,
  };
  const disks = { current: await buildDiskPlan(configs.current), desired: await buildDiskPlan(configs.desired) };
  const changes = changesBetween(disks, current.spec, desired.spec);
  const differences = await irreconcilableIn(configs, changes);
  const isTolerated = toleratedBy(overrides);
  const irreconcilable = differences.filter(({ field }) => !isTolerated(field));
  const causes = findCauses(changes, {
    policy,
    addsMirrorsOnly: () => addsMirrorsOnly(registriesOn(disks.current), registriesOn(disks.desired)),
    usesExtensionsImage: usesExtensionsImage(desired.spec),
  });
  const actions = combineActions(causes);
  return {
    from: current.name,
    to: desired.name,
    isEmpty: changes.length + irreconcilable.length === 0,
    changes,
    irreconcilable,
    tolerated: differences.filter(({ field }) => isTolerated(field)),
    actions,
    needsDrain: needsDrain(actions),
    causes,
  };
}

function changesBetween(
  { current, desired }: { current: DiskPlan; desired: DiskPlan },
  before: Spec,
  after: Spec,
): Change[] {
  const paths = pathChanges(current, desired);
  return [
    ...paths,
    ...unitChanges(current, desired, paths),
    ...coreUserChanges(current, desired),
    ...settingChanges(before, after),
  ];
}

function readRenderedIgnition({ name, spec }: PlannedConfig): RenderedIgnition {
  const read = readIgnition(nameOfMachineConfig(name), spec.config, 'rendered');
  if (read.ok) return read.config;
  const reasons = read.problems.map(({ message }) => message).join('; ');
  throw new FleetError(
    'SLW_UPDATE_CONFIG',
    `${reasons}. Expected a config from the render controller, with a spec version that this program supports. Update the program if it is older than the config; otherwise delete the object, and the controller renders it again`,
  );
}

function registriesOn({ entries }: DiskPlan): Uint8Array | null {
  const entry = entries.find(({ path }) => path === REGISTRIES_PATH);
  return entry?.kind === 'file' && !entry.keepsExisting ? entry.bytes : null;
}

/**
 * Undoes a plan, however far it was executed: undoing a step that was not executed changes nothing. It is not the plan
 * from
 * `to` to `from`, which would refuse to recreate a directory that the machine had.
 */
export function computeRollback({ changes }: Pick<UpdatePlan, 'changes'>): Change[] {
  return changes.map(undo).toReversed();
}

const OPPOSITE: Readonly<Record<PathChange['change'], PathChange['change']>> = {
  added: 'removed',
  removed: 'added',
  changed: 'changed',
};

function undo(change: Change): Change {
  switch (change.kind) {
    case 'path':
      return { ...change, change: OPPOSITE[change.change], before: change.after, after: change.before };
    case 'unit':
      return { ...change, before: change.after, after: change.before };
    case 'ssh keys': {
      const { added, removed, before, after } = change;
      return { ...change, added: removed, removed: added, before: after, after: before };
    }
    case 'password':
      return { ...change, before: change.after, after: change.before };
    case 'kernel arguments':
      // Arguments return to their old order, so the removed ones are not always those that were added.
      return kernelArgumentsChange(change.after, change.before) ?? change;
    case 'extensions':
      return { ...change, added: change.removed, removed: change.added };
    case 'setting':
      return { ...change, before: change.after, after: change.before };
  }
}
