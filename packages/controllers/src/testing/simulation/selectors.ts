// The selectors of lists and watches, as far as our clients use them.
import { isRecord } from '@slipway/base/json';
import type { KubeObject } from '@slipway/kube';

export interface Selection {
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
}

export function selects({ namespace, labelSelector, fieldSelector }: Selection, object: KubeObject): boolean {
  return (
    (namespace === undefined || object.metadata.namespace === namespace) &&
    parseRequirements(labelSelector).every((each) => matchesLabel(each, object.metadata.labels ?? {})) &&
    parseRequirements(fieldSelector).every((each) => matchesField(each, object))
  );
}

const parseRequirements = (selector = ''): string[] => (selector === '' ? [] : selector.split(','));

function matchesLabel(requirement: string, labels: Readonly<Record<string, string>>): boolean {
  const parsed = /^(!?)([\w./-]+?)(?:(!?=)=?([\w./-]*))?$/.exec(requirement);
  if (parsed === null) throw new Error(`the label selector ${requirement} is of a sort that is not simulated`);
  const [, not, label = '', operator, value] = parsed;
  if (operator === undefined) return label in labels === (not === '');
  return (labels[label] === value) === (operator === '=');
}

function matchesField(requirement: string, object: KubeObject): boolean {
  const parsed = /^([\w.]+?)(!?=)=?(.*)$/.exec(requirement);
  if (parsed === null) throw new Error(`the field selector ${requirement} is of a sort that is not simulated`);
  const [, field = '', operator, value] = parsed;
  const found = field.split('.').reduce<unknown>((at, name) => (isRecord(at) ? at[name] : undefined), object);
  return ((found ?? '') === value) === (operator === '=');
}
