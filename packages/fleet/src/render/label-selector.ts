// Label selectors, as Kubernetes reads them.
import type { MachineConfigPool } from '@slipway/api';

export type LabelSelector = NonNullable<MachineConfigPool['spec']['machineConfigSelector']>;
type Requirement = NonNullable<LabelSelector['matchExpressions']>[number];
type Labels = Readonly<Record<string, string>>;

/**
 * Whether an object with these labels is selected. No selector at all selects nothing, an empty one everything. One that
 * breaks the rules selects nothing: `whySelectorRefused` says why.
 */
export function matchesSelector(selector: LabelSelector | undefined, labels: Labels = {}): boolean {
  if (selector === undefined || whySelectorRefused(selector) !== null) return false;
  const { matchLabels = {}, matchExpressions = [] } = selector;
  return (
    Object.entries(matchLabels).every(([key, value]) => labelOf(labels, key) === value) &&
    matchExpressions.every((requirement) => meets(labelOf(labels, requirement.key), requirement))
  );
}

export interface SelectorRefusal {
  /** Below the selector, such as `matchExpressions[0].operator`. */
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

function labelOf(labels: Labels, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}
