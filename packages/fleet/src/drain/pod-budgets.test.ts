import type { PodDisruptionBudget } from '@slipway/api';
import { describe, expect, it } from 'vitest';
import { budgetsOf, keepWhatDecides, stateOf } from './pod-budgets.ts';

const budget = (name: string, selector?: object, namespace = 'shop'): PodDisruptionBudget => ({
  metadata: { name, namespace, uid: name, generation: 1 },
  spec: selector === undefined ? {} : { selector },
  status: { observedGeneration: 1, disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1 },
});
const names = (budgets: PodDisruptionBudget[], labels: Record<string, string> = { app: 'web' }): string[] =>
  budgetsOf({ namespace: 'shop', labels }, budgets).map(({ metadata }) => metadata.name);

describe('the budgets of a pod', () => {
  it('are those of its namespace that select it', () => {
    const web = { matchLabels: { app: 'web' } };
    const all = [
      budget('b', web),
      budget('a', {}),
      budget('c', web, 'elsewhere'),
      budget('d', { matchLabels: { app: 'db' } }),
    ];
    expect(names(all)).toEqual(['a', 'b']);
    expect(names(all, {})).toEqual(['a']);
  });

  it('are none of those that select nothing', () => {
    expect(names([budget('a')])).toEqual([]);
  });

  it('are the same until what an eviction is decided by changes', () => {
    const before = budget('a', {});
    const same = { ...before, metadata: { ...before.metadata, resourceVersion: '99' } };
    expect(stateOf([same])).toBe(stateOf([before]));
    expect(stateOf([{ ...before, status: { ...before.status, disruptionsAllowed: 1 } }])).not.toBe(stateOf([before]));
    expect(stateOf([{ ...before, metadata: { ...before.metadata, uid: 'made anew' } }])).not.toBe(stateOf([before]));
    expect(stateOf([])).not.toBe(stateOf([before]));
  });

  it('are kept without what nobody looks at', () => {
    const stored = { ...budget('a', {}), metadata: { ...budget('a').metadata, uid: 'a', resourceVersion: '1' } };
    const fat = {
      ...stored,
      metadata: { ...stored.metadata, annotations: { big: 'x' } },
      status: { ...stored.status, disruptedPods: { p: '2026-01-02T03:04:05Z' } },
    };
    expect(keepWhatDecides(fat)).toEqual(stored);
  });
});
