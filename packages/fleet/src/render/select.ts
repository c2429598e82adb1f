// Which MachineConfigs make up the configuration of a pool, and in which order.
import { builtInLabel, renderedPrefix, roleLabel, type MachineConfig, type MachineConfigPool } from '@slipway/api';
import { matchesSelector, whySelectorRefused } from './label-selector.ts';
import { problemAt, type RenderProblem } from './problem.ts';

/**
 * Those the pool's selector picks, in the order of the merge, where a later one wins: the built-in ones, then the role
 * worker's, then the other roles', each by name. Rendered ones are results and never inputs.
 */
export function selectMachineConfigs<T extends MachineConfig>(pool: MachineConfigPool, all: Iterable<T>): T[] {
  const selector = pool.spec.machineConfigSelector;
  const selected: T[] = [];
  for (const machineConfig of all) {
    const { name, labels } = machineConfig.metadata;
    if (!name.startsWith(renderedPrefix) && matchesSelector(selector, labels)) selected.push(machineConfig);
  }
  return selected.sort(inMergeOrder);
}

/** What is wrong with the pool's selector. It then selects nothing. */
export function selectorProblems(pool: MachineConfigPool): RenderProblem[] {
  const object = `MachineConfigPool ${pool.metadata.name}`;
  const field = 'spec.machineConfigSelector';
  const selector = pool.spec.machineConfigSelector;
  if (selector === undefined) {
    const wayOut = `set matchLabels with ${roleLabel} and the role of the pool`;
    return [
      problemAt('SLW_RENDER_SELECTOR', object, field, `there is none, so no MachineConfig is selected; ${wayOut}`),
    ];
  }
  const refusal = whySelectorRefused(selector);
  if (refusal === null) return [];
  return [
    problemAt('SLW_RENDER_SELECTOR', object, `${field}.${refusal.field}`, `${refusal.problem}. Correct the selector`),
  ];
}

function inMergeOrder(a: MachineConfig, b: MachineConfig): number {
  return rankOf(a, isBuiltIn) - rankOf(b, isBuiltIn) || rankOf(a, isWorkers) - rankOf(b, isWorkers) || byName(a, b);
}

function rankOf(machineConfig: MachineConfig, comesFirst: (machineConfig: MachineConfig) => boolean): number {
  return comesFirst(machineConfig) ? 0 : 1;
}

function isBuiltIn({ metadata }: MachineConfig): boolean {
  return metadata.labels?.[builtInLabel] !== undefined;
}

function isWorkers({ metadata }: MachineConfig): boolean {
  return metadata.labels?.[roleLabel] === 'worker';
}

function byName(a: MachineConfig, b: MachineConfig): number {
  if (a.metadata.name === b.metadata.name) return 0;
  return a.metadata.name < b.metadata.name ? -1 : 1;
}
