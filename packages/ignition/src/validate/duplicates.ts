// No two items of a list may have the same key: merges could not distinguish them. Uses the keys of the merge.
import { isConcatenated, keyFunction, sharedWith } from '../merge-keys.ts';
import { type Findings, joinIndex, joinKey, show } from '../report.ts';
import type { Kind, Shape } from '../spec/field.ts';

interface ListRule {
  readonly name: string;
  readonly item: Kind;
  /** Null for a list whose items may repeat. */
  readonly keyOf: ((value: unknown) => string) | null;
  /** Lists with the same word share their keys. */
  readonly space: string;
}

interface Plan {
  readonly lists: readonly ListRule[];
  /** Objects with a list somewhere inside. */
  readonly objects: readonly (readonly [string, Shape])[];
}

const plans = new WeakMap<Shape, Plan>();

/** What to check in an object of this shape: computed once, so that a config is traversed only where lists are. */
function buildPlan(shape: Shape): Plan {
  const known = plans.get(shape);
  if (known !== undefined) return known;
  const lists: ListRule[] = [];
  const objects: (readonly [string, Shape])[] = [];
  for (const [name, { kind }] of shape.entries) {
    if (kind.type === 'list') {
      const keyOf = isConcatenated(shape.name, name) ? null : keyFunction(kind.item);
      const space = [name, ...sharedWith(shape.name, name)].sort().join(' ');
      lists.push({ name, item: kind.item, keyOf, space });
    } else if (kind.type === 'object' && !isEmptyPlan(buildPlan(kind))) objects.push([name, kind]);
  }
  const plan = { lists, objects };
  plans.set(shape, plan);
  return plan;
}

function isEmptyPlan(plan: Plan): boolean {
  return plan.lists.length === 0 && plan.objects.length === 0;
}

export function checkDuplicates(shape: Shape, value: object, at: string, findings: Findings): void {
  const plan = buildPlan(shape);
  const seen = new Map<string, Map<string, string>>();
  for (const rule of plan.lists) {
    const items: unknown = Reflect.get(value, rule.name);
    if (!Array.isArray(items)) continue;
    const path = joinKey(at, rule.name);
    if (rule.keyOf !== null) checkKeys(rule, items, rule.keyOf, path, seen, findings);
    if (rule.item.type === 'object' && !isEmptyPlan(buildPlan(rule.item))) checkItems(rule.item, items, path, findings);
  }
  for (const [name, inner] of plan.objects) {
    const member: unknown = Reflect.get(value, name);
    if (typeof member === 'object' && member !== null) checkDuplicates(inner, member, joinKey(at, name), findings);
  }
}

function checkItems(shape: Shape, items: readonly unknown[], path: string, findings: Findings): void {
  items.forEach((item, index) => {
    if (typeof item === 'object' && item !== null) checkDuplicates(shape, item, joinIndex(path, index), findings);
  });
}

function checkKeys(
  rule: ListRule,
  items: readonly unknown[],
  keyOf: (value: unknown) => string,
  path: string,
  seen: Map<string, Map<string, string>>,
  findings: Findings,
): void {
  const keys = seen.get(rule.space) ?? new Map<string, string>();
  seen.set(rule.space, keys);
  items.forEach((item, index) => {
    const key = keyOf(item);
    const first = keys.get(key);
    if (first === undefined) keys.set(key, joinIndex(path, index));
    else findings.error(joinIndex(path, index), `${show(key)} is also ${first}: keep one`);
  });
}
