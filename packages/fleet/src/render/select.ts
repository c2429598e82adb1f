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

/** In Kubernetes, an empty selector selects everything. */
export const selectsSome = ({ matchLabels = {}, matchExpressions = [] }: LabelSelector = {}): boolean =>
  Object.keys(matchLabels).length > 0 || matchExpressions.length > 0;

export interface SelectorRefusal {
  /** Relative to the selector, such as `matchExpressions[0].operator`. */
  readonly field: string;
  readonly problem: string;
}

export function whySelectorRefused(selector: LabelSelector): SelectorRefusal | null {
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
  const selected: T[] = [];
  for (const machineConfig of all) if (selectsMachineConfig(pool, machineConfig)) selected.push(machineConfig);
  return selected.sort(inMergeOrder);
}

/** An empty selector would select the MachineConfigs of all pools, which is never intended for a pool. */
export const selectsMachineConfig = (
  { spec: { machineConfigSelector: selector } }: Pick<MachineConfigPool, 'spec'>,
  { metadata: { name, labels } }: { readonly metadata: { readonly name: string; readonly labels?: Labels } },
): boolean => selectsSome(selector) && !name.startsWith(RENDERED_PREFIX) && matchesSelector(selector, labels);

/** Whether the selector of the pool is empty, which in Kubernetes means everything. */
export const selectsAll = ({ spec: { machineConfigSelector: selector } }: Pick<MachineConfigPool, 'spec'>): boolean =>
  selector !== undefined && !selectsSome(selector);

/** Problems with the selector of the pool, which then selects nothing. */
export function selectorProblems({ metadata: { name }, spec }: MachineConfigPool): RenderProblem[] {
  const object = `MachineConfigPool ${name}`;
  const field = 'spec.machineConfigSelector';
  const selector = spec.machineConfigSelector;
  const refusal = selector === undefined ? null : whySelectorRefused(selector);
  if (refusal !== null) {
    const text = `${refusal.problem}. Correct the selector`;
    return [problemAt('SLW_RENDER_SELECTOR', object, `${field}.${refusal.field}`, text)];
  }
  if (selectsSome(selector)) return [];
  const found = selectsAll({ spec })
    ? 'an empty selector means all MachineConfigs, also those of other pools, so none is selected'
    : 'expected a selector, found none, so no MachineConfig is selected';
  return [problemAt('SLW_RENDER_SELECTOR', object, field, `${found}. ${describeUsualSelector(name)}`)];
}

/** Nodes of a custom pool have the worker role too, so their pool needs the MachineConfigs of both roles. */
const describeUsualSelector = (pool: string): string =>
  STANDARD_POOLS.has(pool)
    ? `Set matchLabels to ${ROLE_LABEL}: ${pool}`
    : `Set matchExpressions to one entry with key ${ROLE_LABEL}, operator In, values worker and ${pool}`;

const STANDARD_POOLS: ReadonlySet<string> = new Set(['master', 'worker', 'arbiter']);

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
