// Plans for tests, from configs that set only what the test is about.
import type { MachineConfig } from '@slipway/api';
import { file, withFiles } from '../../render/testing/sample.ts';
import { planUpdate } from '../plan-update.ts';
import type { NodeDisruptionPolicy } from '../policy.ts';
import type { UpdatePlan } from '../update-plan.ts';

export type Spec = NonNullable<MachineConfig['spec']>;

export function plan(current: Spec, desired: Spec, policy?: NodeDisruptionPolicy): Promise<UpdatePlan> {
  const named = (name: string, spec: Spec) => ({ name: `rendered-worker-${name}`, spec });
  return planUpdate({ current: named('a', current), desired: named('b', desired), policy });
}

/** The contents of the file change. */
export function rewritten(path: string): [Spec, Spec] {
  return [withFiles(file(path, 'one\n')), withFiles(file(path, 'two\n'))];
}

/** Human-readable: `Restart crio.service`. */
export function actionsIn({ actions }: Pick<UpdatePlan, 'actions'>): string[] {
  return actions.map((action) => ('unit' in action ? `${action.type} ${action.unit}` : action.type));
}
