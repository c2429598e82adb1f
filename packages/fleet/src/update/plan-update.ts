// From one rendered config to another on a running machine: what changes, whether it can, and what it costs.
import { diskOf } from '../disk/disk-of.ts';
import type { DiskPlan } from '../disk/disk-plan.ts';
import { FleetError } from '../errors.ts';
import { readIgnition, type RenderedIgnition } from '../render/ignition.ts';
import { nameOfMachineConfig } from '../render/problem.ts';
import { combineActions, needsDrain } from './actions.ts';
import { causesOf } from './causes.ts';
import { coreUserChanges } from './core-user.ts';
import { REGISTRIES_PATH } from './default-policy.ts';
import { irreconcilableIn } from './irreconcilable.ts';
import { pathChanges } from './paths.ts';
import type { NodeDisruptionPolicy } from './policy.ts';
import { addsMirrorsOnly } from './registries.ts';
import { toleratedBy, type ValidationOverrides } from './tolerated.ts';
import { settingChanges, type Spec, usesExtensionsImage } from './settings.ts';
import { unitChanges } from './units.ts';
import type { Change, UpdatePlan } from './update-plan.ts';

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
  const configs = { current: ignitionOf(current), desired: ignitionOf(desired), name: desired.name };
  const disks = { current: await diskOf(configs.current), desired: await diskOf(configs.desired) };
  const changes = await changesBetween(disks, current.spec, desired.spec);
  const differences = await irreconcilableIn(configs, changes);
  const isTolerated = toleratedBy(overrides);
  const irreconcilable = differences.filter(({ field }) => !isTolerated(field));
  const causes = causesOf(changes, {
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

async function changesBetween(
  { current, desired }: { current: DiskPlan; desired: DiskPlan },
  before: Spec,
  after: Spec,
): Promise<Change[]> {
  const paths = await pathChanges(current, desired);
  return [
    ...paths,
    ...unitChanges(current, desired, paths),
    ...(await coreUserChanges(current, desired)),
    ...settingChanges(before, after),
  ];
}

function ignitionOf({ name, spec }: PlannedConfig): RenderedIgnition {
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
