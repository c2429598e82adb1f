import type { PodDisruptionBudget } from '@slipway/api';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { blockedText, type Obstacle } from './blocked-text.ts';

type Spec = NonNullable<PodDisruptionBudget['spec']>;

const budget = (name: string, spec: Spec = { minAvailable: 2 }, observedGeneration = 1): PodDisruptionBudget => ({
  metadata: { name, namespace: 'shop', generation: 1 },
  spec,
  status: { observedGeneration, disruptionsAllowed: 0, currentHealthy: 2, desiredHealthy: 2 },
});
const kept = (name: string, ...budgets: PodDisruptionBudget[]): Obstacle => ({
  pod: { namespace: 'shop', name },
  owner: 'Deployment web',
  why: { type: 'budgets', budgets },
});

describe('what a drain waits for', () => {
  it('is empty without obstacles', () => {
    expect(blockedText([])).toBe('');
  });

  it('names the pod, its owner, the budget with its numbers, and what to do', () => {
    expect(blockedText([kept('web-1', budget('web'))])).toBe(
      'The drain is waiting for 1 pod. Pod shop/web-1 of Deployment web: PodDisruptionBudget web needs 2 healthy pods and has 2; ' +
        'add healthy pods, change the budget, or delete the pod.',
    );
  });

  it.each<[string, Obstacle, RegExp]>([
    [
      'a budget that can never allow it, where more pods do not help',
      kept('p', budget('web', { maxUnavailable: 0 })),
      /never allows an eviction \(maxUnavailable: 0\); change it, or delete the pod/,
    ],
    ['a budget that protects all pods', kept('p', budget('web', { minAvailable: '100%' })), /\(minAvailable: 100%\)/],
    ['a budget with an outdated status', kept('p', budget('web', {}, 0)), /check that kube-controller-manager runs/],
    [
      'two budgets for one pod, which Kubernetes never evicts',
      kept('p', budget('one'), budget('two')),
      /PodDisruptionBudgets one and two both select it.*change the selector/,
    ],
    [
      'another refusal, with the message of the API server',
      { ...kept('p'), why: { type: 'refused', message: 'admission webhook "x" denied the request' } },
      /Pod shop\/p of Deployment web cannot be evicted: admission webhook "x" denied/,
    ],
    [
      'no secret in the message of a webhook',
      { ...kept('p'), why: { type: 'refused', message: 'webhook "x" failed: POST https://hook:abc12@10.0.0.1/' } },
      /failed: POST https:\/\/hook:\(hidden\)@10\.0\.0\.1/,
    ],
    [
      'finalizers that block the termination of a pod',
      { ...kept('p'), why: { type: 'stuck', since: 0, finalizers: ['example.com/a', 'example.com/b'] } },
      /should have terminated by 1970-01-01T00:00:00.000Z: its finalizers example.com\/a, example.com\/b block it/,
    ],
    [
      'a kubelet that does not confirm the termination of a pod',
      { ...kept('p'), owner: '', why: { type: 'stuck', since: 0, finalizers: [] } },
      /^The drain is waiting for 1 pod\. Pod shop\/p should have terminated.*the kubelet has not confirmed it/,
    ],
  ])('reports %s', (_, obstacle, text) => {
    expect(blockedText([obstacle])).toMatch(text);
  });

  it('counts the pods that it does not name', () => {
    const many = Array.from({ length: 20 }, (_, n) => kept(`web-${n}`, budget('web')));
    const text = blockedText(many, 7);
    expect(text).toMatch(/^The drain is waiting for 27 pods\. /);
    const named = text.split('Pod shop/').length - 1;
    expect(named).toBeGreaterThan(1);
    expect(text).toMatch(new RegExp(` And ${27 - named} more\\.$`));
  });

  it('is at most a kilobyte, and independent of the order of the pods, so that it is not rewritten', () => {
    const name = fc.string({ minLength: 1, maxLength: 253, unit: 'grapheme' });
    const obstacle: fc.Arbitrary<Obstacle> = fc.record({
      pod: fc.record({ namespace: name, name }),
      owner: name,
      why: fc.oneof(
        fc.record({ type: fc.constant('refused' as const), message: fc.string({ maxLength: 3000, unit: 'grapheme' }) }),
        fc.record({ type: fc.constant('stuck' as const), since: fc.constant(0), finalizers: fc.array(name) }),
        fc.record({ type: fc.constant('budgets' as const), budgets: fc.array(name.map((each) => budget(each))) }),
      ),
    });
    fc.assert(
      fc.property(fc.array(obstacle, { minLength: 1, maxLength: 6 }), fc.nat(100), (obstacles, more) => {
        const text = blockedText(obstacles, more);
        expect(Buffer.byteLength(text)).toBeLessThanOrEqual(1024);
        expect(blockedText(obstacles.toReversed(), more)).toBe(text);
      }),
    );
  });
});
