// Differences that users let pass, though a running machine cannot take them on: new machines get them at their first boot.
import type { MachineConfiguration } from '@slipway/api';
import type { Irreconcilable } from './update-plan.ts';

/** `spec.irreconcilableValidationOverrides` of the MachineConfiguration. */
export type ValidationOverrides = NonNullable<MachineConfiguration['spec']['irreconcilableValidationOverrides']>;

type Part = NonNullable<ValidationOverrides['storage']>[number];

const SECTIONS: Readonly<Record<Part, string>> = {
  Disks: 'spec.config.storage.disks',
  FileSystems: 'spec.config.storage.filesystems',
  Raid: 'spec.config.storage.raid',
};

/** Whether a field is one of those. */
export function toleratedBy(overrides: ValidationOverrides | undefined): (field: string) => boolean {
  const sections = (overrides?.storage ?? []).map((part) => SECTIONS[part]);
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
