// Label selectors with the semantics of Kubernetes.
import { builtInLabel, type MachineConfig, type MachineConfigPool, RENDERED_PREFIX, ROLE_LABEL } from '@slipway/api';
import { problemAt, type RenderProblem } from './problem.ts';

export type LabelSelector = NonNullable<MachineConfigPool['spec']['machineConfigSelector']>;
type Requirement = NonNullable<LabelSelector['matchExpressions']>[number];
type Labels = Readonly<Record<string, string>>;

/**
 * Whether an object with these labels is selected. A missing selector selects nothing, an empty one everything, and an
 * invalid one nothing: `whySelectorRefused` returns why.
 */
export function matchesSelector(selector: LabelSelector | undefined, labels: Labels = {}): boolean {
  if (selector === undefined || whySelectorRefused(selector) !== null) return false;
  const { matchLabels = {}, matchExpressions = [] } = selector;
  return (
    Object.entries(matchLabels).every(([key, value]) => getLabel(labels, key) === value) &&
    matchExpressions.every((requirement) => meets(getLabel(labels, requirement.key), requirement))
  );
}

export interface SelectorRefusal {
  /** Relative to the selector, such as `matchExpressions[0].operator`. */
  readonly field: string;
  readonly problem: string;
}

function whySelectorRefused(selector: LabelSelector): SelectorRefusal | null {
  for (const [index, requirement] of (selector.matchExpressions ?? []).entries()) {
    const refusal = whyRequirementRefused(requirement);
    if (refusal !== null) return { ...refusal, field: `matchExpressions[${index}].${refusal.field}` };
  }
  return null;
}

function whyRequirementRefused({ operator, values = [] }: Requirement): SelectorRefusal | null {
  switch (operator) {
    case 'In':
    case 'NotIn':
      return values.length > 0
        ? null
        : { field: 'values', problem: `${operator} needs at least one value, found none` };
    case 'Exists':
    case 'DoesNotExist':
      return values.length === 0 ? null : { field: 'values', problem: `${operator} takes no values: remove them` };
    default: {
      const known = 'expected In, NotIn, Exists or DoesNotExist';
      return { field: 'operator', problem: `${known}, found ${JSON.stringify(operator.slice(0, 80))}` };
    }
  }
}

function meets(value: string | undefined, { operator, values = [] }: Requirement): boolean {
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    default:
      return value === undefined;
  }
}

function getLabel(labels: Labels, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}

// The MachineConfigs of a pool, in merge order.

/**
 * The selected MachineConfigs in merge order, where a later one wins: first the built-in ones, then those of role
 * worker, then those of other roles, each by name. Rendered ones are never inputs.
 */
export function selectMachineConfigs<T extends MachineConfig>(pool: MachineConfigPool, all: Iterable<T>): T[] {
  const selector = pool.spec.machineConfigSelector;
  const selected: T[] = [];
  for (const machineConfig of all) {
    const { name, labels } = machineConfig.metadata;
    if (!name.startsWith(RENDERED_PREFIX) && matchesSelector(selector, labels)) selected.push(machineConfig);
  }
  return selected.sort(inMergeOrder);
}

/** Problems with the selector of the pool, which then selects nothing. */
export function selectorProblems(pool: MachineConfigPool): RenderProblem[] {
  const object = `MachineConfigPool ${pool.metadata.name}`;
  const field = 'spec.machineConfigSelector';
  const selector = pool.spec.machineConfigSelector;
  if (selector === undefined) {
    const remediation = `set matchLabels with ${ROLE_LABEL} and the role of the pool`;
    return [
      problemAt(
        'SLW_RENDER_SELECTOR',
        object,
        field,
        `expected a selector, found none, so no MachineConfig is selected; ${remediation}`,
      ),
    ];
  }
  const refusal = whySelectorRefused(selector);
  if (refusal === null) return [];
  return [
    problemAt('SLW_RENDER_SELECTOR', object, `${field}.${refusal.field}`, `${refusal.problem}. Correct the selector`),
  ];
}

function inMergeOrder(a: MachineConfig, b: MachineConfig): number {
  return (
    computeRank(a, isBuiltIn) - computeRank(b, isBuiltIn) ||
    computeRank(a, isWorkers) - computeRank(b, isWorkers) ||
    byName(a, b)
  );
}

function computeRank(machineConfig: MachineConfig, comesFirst: (machineConfig: MachineConfig) => boolean): number {
  return comesFirst(machineConfig) ? 0 : 1;
}

function isBuiltIn({ metadata }: MachineConfig): boolean {
  return metadata.labels?.[builtInLabel] !== undefined;
}

function isWorkers({ metadata }: MachineConfig): boolean {
  return metadata.labels?.[ROLE_LABEL] === 'worker';
}

function byName(a: MachineConfig, b: MachineConfig): number {
  if (a.metadata.name === b.metadata.name) return 0;
  return a.metadata.name < b.metadata.name ? -1 : 1;
}
