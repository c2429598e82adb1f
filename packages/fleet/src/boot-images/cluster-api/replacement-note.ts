import { fieldAt, textAt } from '../json-path.ts';
import type { Json, MachineResource } from '../verdict.ts';

/**
 * What another template means for machines that are there already; '' where it means nothing: a MachineSet only makes new
 * ones of it. `spec`: that of the resource, of v1beta1 or v1beta2.
 */
export function replacementNote(kind: MachineResource['kind'], spec: Json | undefined): string {
  if (kind === 'MachineSet') return '';
  if (fieldAt(spec, 'paused') === true) return 'it is paused: machines are replaced when it goes on';
  const strategy = textAt(spec, 'rollout', 'strategy', 'type') || textAt(spec, 'strategy', 'type');
  return strategy === 'OnDelete'
    ? 'machines that are there stay until somebody deletes them (strategy OnDelete)'
    : 'machines that are there are replaced, some at a time (strategy RollingUpdate)';
}
