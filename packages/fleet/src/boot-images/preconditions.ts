// The preconditions of a boot image update, in the order in which they are checked.
import { bootImageHoldAnnotation } from '@slipway/api';
import type { GoldenFacts, GoldenReading } from './boot-image-config.ts';
import { matchesSelector } from '../render/select.ts';
import type { ClusterFacts, MachineManager, OptIn, ResourceFacts } from './facts.ts';
import { describeReverter, findMachineDeployment } from './owner.ts';
import type { BootImageCode, MachineResource } from './verdict.ts';

/** Identifies the unmet precondition to programs. */
export type UpdatePrecondition =
  | 'not opted in'
  | 'handled by owner'
  | 'owned'
  | 'held'
  | 'boot images'
  | 'stamp'
  | 'other api'
  | 'migrating'
  | 'paused'
  | 'windows';

interface UnmetPrecondition {
  readonly gate: UpdatePrecondition;
  readonly verdict: 'skipped' | 'failed';
  readonly why: string;
  readonly code: BootImageCode | null;
}

/** The resource is handled elsewhere or runs another OS: it lacks nothing. */
const elsewhere: ReadonlySet<UpdatePrecondition | null> = new Set<UpdatePrecondition>([
  'handled by owner',
  'other api',
  'windows',
]);
export const isElsewhere = (gate: UpdatePrecondition | null): boolean => elsewhere.has(gate);

const PAUSED_ANNOTATION = 'cluster.x-k8s.io/paused';
const OS_LABEL = 'machine.openshift.io/os-id';

/**
 * Null: all preconditions are met. What is handled elsewhere comes before the opt-in: it lacks nothing, whether or not its
 * own API is opted in.
 */
export function findUnmetPrecondition(resource: ResourceFacts, cluster: ClusterFacts): UnmetPrecondition | null {
  return (
    checkMachineDeployment(resource) ??
    checkAuthority(resource) ??
    checkWindows(resource) ??
    checkOptIn(resource, cluster) ??
    checkReverter(resource) ??
    checkHold(resource) ??
    checkGolden(cluster.golden) ??
    checkMigration(resource) ??
    checkPaused(resource)
  );
}

const skipped = (gate: UpdatePrecondition, why: string, code: BootImageCode | null = null): UnmetPrecondition => ({
  gate,
  verdict: 'skipped',
  why,
  code,
});

const failed = (gate: UpdatePrecondition, code: BootImageCode, why: string): UnmetPrecondition => ({
  gate,
  verdict: 'failed',
  why,
  code,
});

function checkOptIn(resource: ResourceFacts, { optIn }: ClusterFacts): UnmetPrecondition | null {
  const enrolment = resolveSelection(resource, optIn);
  return enrolment.enrolled ? null : skipped('not opted in', enrolment.why);
}

function checkMachineDeployment(facts: ResourceFacts): UnmetPrecondition | null {
  const deployment = findMachineDeployment(facts);
  return deployment === undefined
    ? null
    : skipped('handled by owner', `updated through MachineDeployment ${deployment.name}`);
}

function checkReverter(facts: ResourceFacts): UnmetPrecondition | null {
  const reverter = describeReverter(facts);
  return reverter === null ? null : skipped('owned', reverter);
}

function checkHold({ annotations }: ResourceFacts): UnmetPrecondition | null {
  const held = annotations[bootImageHoldAnnotation];
  if (held === undefined) return null;
  const at = held === '' ? '' : ` at ${held.slice(0, 100)}`;
  return skipped('held', `held by a user${at}: remove the annotation ${bootImageHoldAnnotation} to resume updates`);
}

function checkGolden(reading: GoldenReading): UnmetPrecondition | null {
  if (reading.type === 'problem') return failed('boot images', reading.code, reading.message);
  return checkStamp(reading.golden);
}

function checkStamp({ stamp }: GoldenFacts): UnmetPrecondition | null {
  if (stamp.type === 'stamped') return null;
  const code = 'SLW_BOOT_IMAGES_VERSION';
  return stamp.isLate ? failed('stamp', code, stamp.why) : skipped('stamp', stamp.why, code);
}

const ownApi = { 'machine.openshift.io': 'MachineAPI', 'cluster.x-k8s.io': 'ClusterAPI' } as const;

function checkAuthority({ resource, authoritativeApi }: ResourceFacts): UnmetPrecondition | null {
  if (authoritativeApi === null || authoritativeApi === 'Migrating' || authoritativeApi === ownApi[resource.api])
    return null;
  return skipped(
    'other api',
    `status.authoritativeAPI is ${authoritativeApi}: the resource with the same name in that API is updated instead`,
  );
}

const checkMigration = ({ authoritativeApi }: ResourceFacts): UnmetPrecondition | null =>
  authoritativeApi === 'Migrating'
    ? skipped('migrating', 'waiting for its migration between the machine APIs to finish')
    : null;

function checkPaused({ annotations, isPaused }: ResourceFacts): UnmetPrecondition | null {
  if (annotations[PAUSED_ANNOTATION] !== undefined) {
    return skipped('paused', `paused by the annotation ${PAUSED_ANNOTATION}: remove it to resume updates`);
  }
  return isPaused ? skipped('paused', 'paused by spec.paused: unset it to resume updates') : null;
}

function checkWindows({ labels, machineLabels }: ResourceFacts): UnmetPrecondition | null {
  const isWindows = [machineLabels[OS_LABEL], labels[OS_LABEL]].some((value) => value?.toLowerCase() === 'windows');
  return isWindows ? skipped('windows', 'its machines run Windows, and Windows images are not managed') : null;
}

// Which resources are opted in to managed boot images.

type BootImageSelection = { readonly enrolled: true } | { readonly enrolled: false; readonly why: string };

const FIELD = 'spec.managedBootImages.machineManagers of MachineConfiguration cluster';

export function resolveSelection(
  { resource, labels }: Pick<ResourceFacts, 'resource' | 'labels'>,
  optIn: OptIn | null,
): BootImageSelection {
  if (optIn === null) return { enrolled: false, why: 'not opted in: MachineConfiguration cluster does not exist' };
  const manager = findManager(resource, optIn.managers);
  const entry = `${toPlural(resource)} of ${resource.api}`;
  if (manager === undefined) return { enrolled: false, why: `not opted in: ${FIELD} has no entry for ${entry}` };
  return selected(manager, labels, entry);
}

const findManager = (resource: MachineResource, managers: readonly MachineManager[]): MachineManager | undefined =>
  managers.find((each) => each.resource === toPlural(resource) && each.apiGroup === resource.api);

const toPlural = ({ kind }: MachineResource): 'machinesets' | 'machinedeployments' =>
  kind === 'MachineSet' ? 'machinesets' : 'machinedeployments';

function selected({ selection }: MachineManager, labels: ResourceFacts['labels'], entry: string): BootImageSelection {
  switch (selection.mode) {
    case 'All':
      return { enrolled: true };
    case 'Partial':
      return matchesSelector(selection.partial?.machineResourceSelector, labels)
        ? { enrolled: true }
        : { enrolled: false, why: `not opted in: its labels do not match the selector for ${entry} in ${FIELD}` };
    default:
      return { enrolled: false, why: `opted out: ${FIELD} has mode None for ${entry}; the boot image is not updated` };
  }
}

/** Whether MachineConfiguration selects anything at all. */
export const isAnythingManaged = (optIn: OptIn | null): boolean =>
  optIn !== null && optIn.managers.some(({ resource, selection }) => isManaged(resource) && selection.mode !== 'None');

/** Whether the API accepts an automatic skew record: not if MachineSets of the Machine API are explicitly excluded. */
export function mayRecordSkew(optIn: OptIn | null): boolean {
  const entry = optIn?.managers.find(
    (each) => each.resource === 'machinesets' && each.apiGroup === 'machine.openshift.io',
  );
  return entry === undefined ? isAnythingManaged(optIn) : entry.selection.mode === 'All';
}

/**
 * The entries in effect. With skew in mode Automatic, the API refuses a list without all MachineSets of the Machine API:
 * then none is listed. `isRecorded`: the mode is Automatic.
 */
export function managersInForce(optIn: OptIn | null, isRecorded: boolean): readonly MachineManager[] {
  const managers = (optIn?.managers ?? []).filter(
    ({ resource, selection }) => isManaged(resource) && selection.mode !== 'None',
  );
  return !isRecorded || managers.some(isWholeMachineApi) ? managers : [];
}

const isWholeMachineApi = ({ resource, apiGroup, selection }: MachineManager): boolean =>
  resource === 'machinesets' && apiGroup === 'machine.openshift.io' && selection.mode === 'All';

const isManaged = (resource: MachineManager['resource']): boolean => resource !== 'controlplanemachinesets';

/** Settings that have no effect. */
export const listSelectionNotes = (optIn: OptIn | null): readonly string[] =>
  (optIn?.managers ?? [])
    .filter(({ resource, selection }) => !isManaged(resource) && selection.mode !== 'None')
    .map(
      () =>
        `${FIELD}: the entry for controlplanemachinesets is unsupported and has no effect, because boot images of ControlPlaneMachineSets are not managed. Remove it, or set its mode to None`,
    );
