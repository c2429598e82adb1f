// What each thing that changes asks for.
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
  /** Asked only if the file has changed and the built-in entry counts. */
  readonly addsMirrorsOnly: () => boolean;
  /** Whether anything on the machine comes from the image with the extensions. What came from it and goes is a change itself. */
  readonly usesExtensionsImage: boolean;
}

/** One for each item, by kind and name. */
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

/** Two, where a file of its own becomes one of a unit or the other way round. */
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
      // The entry covers what is below its path as well, which is another file.
      return rulingForFile(name, policy, () => name === REGISTRIES_PATH && addsMirrorsOnly());
    case 'unit':
      return rulingForUnit(name, policy);
    case 'ssh keys':
    case 'password':
      return rulingForSshKey(policy);
    case 'machine setting':
      if (name !== 'baseOSExtensionsContainerImage' || usesExtensionsImage) {
        return alwaysReboots(`a change of ${name} takes a reboot, whatever the policy says`);
      }
      return { actions: [], rule: 'always', entry: '', because: 'nothing on the machine comes from this image' };
  }
}

// From one rendered config to another on a running machine: what changes, whether it can, and what it costs.

export interface PlannedConfig {
  readonly name: string;
  /** Of a rendered MachineConfig, as `renderPool` gives it or the API server has it. */
  readonly spec: Spec;
}

export interface UpdateRequest {
  readonly current: PlannedConfig;
  readonly desired: PlannedConfig;
  /** The users' part; the built-in entries are below it. */
  readonly policy?: NodeDisruptionPolicy | undefined;
  /** Differences to let pass though the machine cannot take them on, as users say it. */
  readonly overrides?: ValidationOverrides | undefined;
}

/** Throws a FleetError where one of the configs cannot be read. */
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
  const read = readIgnition(nameOfMachineConfig(name), spec.config);
  if (read.ok) return read.config;
  const reasons = read.problems.map(({ message }) => message).join('; ');
  throw new FleetError(
    'SLW_UPDATE_CONFIG',
    `${reasons}. Expected a config as the render controller writes it, of a spec version that this program knows: update the program if it is older than the config, else delete the object, and it is made again`,
  );
}

function registriesOn({ entries }: DiskPlan): Uint8Array | null {
  const entry = entries.find(({ path }) => path === REGISTRIES_PATH);
  return entry?.kind === 'file' && !entry.keepsExisting ? entry.bytes : null;
}

/**
 * The way back from a plan, however far it was carried out: undoing what was not done yet changes nothing. It is not the
 * plan from `to` to `from`, which would refuse to make a directory again that the machine had.
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
      // Arguments are put back in their order, so what is removed is not always what was added.
      return kernelArgumentsChange(change.after, change.before) ?? change;
    case 'extensions':
      return { ...change, added: change.removed, removed: change.added };
    case 'setting':
      return { ...change, before: change.after, after: change.before };
  }
}
