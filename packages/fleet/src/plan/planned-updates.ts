// What going from one config to another means for a machine: worked out once for each pair, however many machines go that way.
import type { MachineConfiguration } from '@slipway/api';
import { FleetError } from '../errors.ts';
import { type PlannedConfig, planUpdate } from '../update/plan-update.ts';
import type { UpdatePlan } from '../update/update-plan.ts';

export interface Updates {
  /** Null where a config is not to be had or cannot be read; `problems` then says why. */
  between(from: string, to: string): Promise<UpdatePlan | null>;
  /** Sentences, each once. */
  readonly problems: ReadonlySet<string>;
}

export function createUpdates(
  configs: ReadonlyMap<string, PlannedConfig['spec']>,
  settings: MachineConfiguration['spec'] | undefined,
): Updates {
  const { nodeDisruptionPolicy: policy, irreconcilableValidationOverrides: overrides } = settings ?? {};
  const known = new Map<string, Promise<UpdatePlan | null>>();
  const problems = new Set<string>();

  function find(name: string): PlannedConfig | null {
    const spec = configs.get(name);
    if (spec !== undefined) return { name, spec };
    problems.add(
      `MachineConfig ${name} is not there, so nobody can say what changes for the machines that have it; they are counted as disrupted`,
    );
    return null;
  }

  async function plan(from: string, to: string): Promise<UpdatePlan | null> {
    const [current, desired] = [find(from), find(to)];
    if (current === null || desired === null) return null;
    try {
      return await planUpdate({ current, desired, policy, overrides });
    } catch (error) {
      if (!(error instanceof FleetError)) throw error;
      problems.add(`${error.message} [${error.code}]`);
      return null;
    }
  }

  return {
    problems,
    between(from, to) {
      const pair = `${from} ${to}`;
      const before = known.get(pair) ?? plan(from, to);
      known.set(pair, before);
      return before;
    },
  };
}
