import type { Pod, PodDisruptionBudget } from '@slipway/api';
import { describe, expect, it } from 'vitest';
import type { Stored } from '../kube-object.ts';
import { findBudgets, keepWhatDecides, readPodFacts, fingerprintBudgets } from './pods.ts';

const budget = (name: string, selector?: object, namespace = 'shop'): PodDisruptionBudget => ({
  metadata: { name, namespace, uid: name, generation: 1 },
  spec: selector === undefined ? {} : { selector },
  status: { observedGeneration: 1, disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1 },
});
const names = (budgets: PodDisruptionBudget[], labels: Record<string, string> = { app: 'web' }): string[] =>
  findBudgets({ namespace: 'shop', labels }, budgets).map(({ metadata }) => metadata.name);

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

  it('exclude those that select nothing', () => {
    expect(names([budget('a')])).toEqual([]);
  });

  it('have the same fingerprint until something relevant to an eviction changes', () => {
    const before = budget('a', {});
    const same = { ...before, metadata: { ...before.metadata, resourceVersion: '99' } };
    expect(fingerprintBudgets([same])).toBe(fingerprintBudgets([before]));
    expect(fingerprintBudgets([{ ...before, status: { ...before.status, disruptionsAllowed: 1 } }])).not.toBe(
      fingerprintBudgets([before]),
    );
    expect(fingerprintBudgets([{ ...before, metadata: { ...before.metadata, uid: 'made anew' } }])).not.toBe(
      fingerprintBudgets([before]),
    );
    expect(fingerprintBudgets([])).not.toBe(fingerprintBudgets([before]));
  });

  it('are stored without unused fields', () => {
    const stored = { ...budget('a', {}), metadata: { ...budget('a').metadata, uid: 'a', resourceVersion: '1' } };
    const fat = {
      ...stored,
      metadata: { ...stored.metadata, annotations: { big: 'x' } },
      status: { ...stored.status, disruptedPods: { p: '2026-01-02T03:04:05Z' } },
    };
    expect(keepWhatDecides(fat)).toEqual(stored);
  });
});

const owned = (kind: string, controller = true) => [{ apiVersion: 'apps/v1', kind, name: 'o', uid: 'u', controller }];
const pod = (metadata: Partial<Pod['metadata']> = {}, phase = 'Running'): Stored<Pod> => ({
  metadata: { name: 'p', namespace: 'shop', uid: 'uid-p', resourceVersion: '1', ...metadata },
  status: { phase },
});

describe('a drain', () => {
  it.each<[string, Stored<Pod>, boolean]>([
    ['evicts a pod of a ReplicaSet', pod({ ownerReferences: owned('ReplicaSet') }), true],
    ['evicts a pod without a controller', pod(), true],
    ['evicts a pod that has not started', pod({}, 'Pending'), true],
    ['ignores a pod of a DaemonSet', pod({ ownerReferences: owned('DaemonSet') }), false],
    ['does not mistake an owner for the controller', pod({ ownerReferences: owned('DaemonSet', false) }), true],
    ['ignores a mirror pod', pod({ annotations: { 'kubernetes.io/config.mirror': '' } }), false],
    ['ignores a pod that has succeeded', pod({}, 'Succeeded'), false],
    ['ignores a pod that has failed', pod({}, 'Failed'), false],
  ])('%s', (_, given, isEvicted) => {
    expect(readPodFacts(given) !== null).toBe(isEvicted);
  });

  it('reads the controller of a pod, and the end of its grace period', () => {
    const facts = readPodFacts(
      pod({
        ownerReferences: owned('StatefulSet'),
        deletionTimestamp: '2026-01-02T03:04:05Z',
        finalizers: ['example.com/keep'],
        labels: { app: 'web' },
      }),
    );
    expect(facts).toEqual({
      namespace: 'shop',
      name: 'p',
      uid: 'uid-p',
      labels: { app: 'web' },
      owner: { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'o' },
      endsAt: Date.parse('2026-01-02T03:04:05Z'),
      finalizers: ['example.com/keep'],
    });
  });
});
