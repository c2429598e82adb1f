// What keeps a resource from getting a boot image, in the order in which it is asked. First of all: that nobody has opted it in.
import { bootImageHoldAnnotation } from '@slipway/api';
import type { GoldenFacts, GoldenReading } from './boot-image-config.ts';
import { matchesSelector } from '../render/select.ts';
import type { ClusterFacts, MachineManager, OptIn, ResourceFacts } from './facts.ts';
import type { BootImageCode, MachineResource } from './verdict.ts';

/** Which one, for programs. */
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

/** Those through which something is handled elsewhere, or is no machine of ours: nothing is missing there. */
const elsewhere: ReadonlySet<UpdatePrecondition | null> = new Set<UpdatePrecondition>([
  'handled by owner',
  'other api',
  'windows',
]);
export const isElsewhere = (gate: UpdatePrecondition | null): boolean => elsewhere.has(gate);

const PAUSED_ANNOTATION = 'cluster.x-k8s.io/paused';
const OS_LABEL = 'machine.openshift.io/os-id';

/** Null: all are open. */
export function findUnmetPrecondition(resource: ResourceFacts, cluster: ClusterFacts): UnmetPrecondition | null {
  return (
    checkOptIn(resource, cluster) ??
    checkOwner(resource) ??
    checkHold(resource) ??
    checkGolden(cluster.golden) ??
    checkAuthority(resource) ??
    checkPaused(resource) ??
    checkWindows(resource)
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

function checkOwner({ resource, owners }: ResourceFacts): UnmetPrecondition | null {
  const deployment = owners.find(({ kind }) => kind === 'MachineDeployment');
  if (deployment !== undefined && resource.kind === 'MachineSet') {
    return skipped('handled by owner', `handled through MachineDeployment ${deployment.name}`);
  }
  const [owner] = owners;
  if (owner === undefined) return null;
  const way = `Change the image there, or remove the owner reference`;
  return skipped('owned', `${owner.kind} ${owner.name} owns it and would change it back. ${way}`);
}

function checkHold({ annotations }: ResourceFacts): UnmetPrecondition | null {
  const held = annotations[bootImageHoldAnnotation];
  if (held === undefined) return null;
  const at = held === '' ? '' : ` at ${held.slice(0, 100)}`;
  return skipped('held', `held by a person${at}: remove the annotation ${bootImageHoldAnnotation} to go on`);
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
  if (authoritativeApi === null || authoritativeApi === ownApi[resource.api]) return null;
  if (authoritativeApi === 'Migrating') return skipped('migrating', 'it is moving between the machine APIs: waits');
  return skipped('other api', `status.authoritativeAPI is ${authoritativeApi}: the set of the same name there decides`);
}

function checkPaused({ annotations, isPaused }: ResourceFacts): UnmetPrecondition | null {
  if (annotations[PAUSED_ANNOTATION] !== undefined) {
    return skipped('paused', `paused by the annotation ${PAUSED_ANNOTATION}: remove it to go on`);
  }
  return isPaused ? skipped('paused', 'paused by spec.paused: unset it to go on') : null;
}

function checkWindows({ labels, machineLabels }: ResourceFacts): UnmetPrecondition | null {
  const isWindows = [machineLabels[OS_LABEL], labels[OS_LABEL]].some((value) => value?.toLowerCase() === 'windows');
  return isWindows ? skipped('windows', 'its machines run Windows, which has images of its own') : null;
}

// Which resources are opted in to managed boot images.

type BootImageSelection = { readonly enrolled: true } | { readonly enrolled: false; readonly why: string };

const FIELD = 'spec.managedBootImages.machineManagers of MachineConfiguration cluster';

export function resolveSelection(
  { resource, labels }: Pick<ResourceFacts, 'resource' | 'labels'>,
  optIn: OptIn | null,
): BootImageSelection {
  if (optIn === null) return { enrolled: false, why: 'not opted in: there is no MachineConfiguration cluster' };
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
      return { enrolled: false, why: `opted out: ${FIELD} has mode None for ${entry}; the boot image stays as it is` };
  }
}

/** Whether MachineConfiguration asks for anything at all. */
export const isAnythingManaged = (optIn: OptIn | null): boolean =>
  optIn !== null && optIn.managers.some(({ resource, selection }) => isManaged(resource) && selection.mode !== 'None');

/** Whether the API takes an automatic record of skew: not where MachineSets of the Machine API are left out on purpose. */
export function mayRecordSkew(optIn: OptIn | null): boolean {
  const entry = optIn?.managers.find(
    (each) => each.resource === 'machinesets' && each.apiGroup === 'machine.openshift.io',
  );
  return entry === undefined ? isAnythingManaged(optIn) : entry.selection.mode === 'All';
}

/** What is acted on, as far as the status has words for it: the API of the platform knows no Cluster API there. */
export const managersInForce = (optIn: OptIn | null): readonly MachineManager[] =>
  (optIn?.managers ?? []).filter(
    ({ resource, apiGroup, selection }) =>
      apiGroup === 'machine.openshift.io' && isManaged(resource) && selection.mode !== 'None',
  );

const isManaged = (resource: MachineManager['resource']): boolean => resource !== 'controlplanemachinesets';

/** What is asked for and cannot be done. */
export const listSelectionNotes = (optIn: OptIn | null): readonly string[] =>
  (optIn?.managers ?? [])
    .filter(({ resource, selection }) => !isManaged(resource) && selection.mode !== 'None')
    .map(
      () =>
        `${FIELD}: boot images of ControlPlaneMachineSets are not managed, and the entry for controlplanemachinesets has no effect. Remove it, or set its mode to None`,
    );
