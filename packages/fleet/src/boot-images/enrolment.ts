// Which resources are opted in to managed boot images.
import { matchesSelector } from '../render/select.ts';
import type { MachineManager, OptIn, ResourceFacts } from './facts.ts';
import type { MachineResource } from './verdict.ts';

export type Enrolment = { readonly enrolled: true } | { readonly enrolled: false; readonly why: string };

const FIELD = 'spec.managedBootImages.machineManagers of MachineConfiguration cluster';

export function enrolmentOf(
  { resource, labels }: Pick<ResourceFacts, 'resource' | 'labels'>,
  optIn: OptIn | null,
): Enrolment {
  if (optIn === null) return { enrolled: false, why: 'not opted in: there is no MachineConfiguration cluster' };
  const manager = managerOf(resource, optIn.managers);
  const entry = `${pluralOf(resource)} of ${resource.api}`;
  if (manager === undefined) return { enrolled: false, why: `not opted in: ${FIELD} has no entry for ${entry}` };
  return selected(manager, labels, entry);
}

const managerOf = (resource: MachineResource, managers: readonly MachineManager[]): MachineManager | undefined =>
  managers.find((each) => each.resource === pluralOf(resource) && each.apiGroup === resource.api);

const pluralOf = ({ kind }: MachineResource): 'machinesets' | 'machinedeployments' =>
  kind === 'MachineSet' ? 'machinesets' : 'machinedeployments';

function selected({ selection }: MachineManager, labels: ResourceFacts['labels'], entry: string): Enrolment {
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
export const enrolmentNotes = (optIn: OptIn | null): readonly string[] =>
  (optIn?.managers ?? [])
    .filter(({ resource, selection }) => !isManaged(resource) && selection.mode !== 'None')
    .map(
      () =>
        `${FIELD}: boot images of ControlPlaneMachineSets are not managed, and the entry for controlplanemachinesets has no effect. Remove it, or set its mode to None`,
    );
