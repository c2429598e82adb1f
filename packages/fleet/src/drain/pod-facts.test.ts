import type { Pod } from '@slipway/api';
import type { Stored } from '../kube-object.ts';
import { describe, expect, it } from 'vitest';
import { podFactsOf } from './pod-facts.ts';

const owned = (kind: string, controller = true) => [{ apiVersion: 'apps/v1', kind, name: 'o', uid: 'u', controller }];
const pod = (metadata: Partial<Pod['metadata']> = {}, phase = 'Running'): Stored<Pod> => ({
  metadata: { name: 'p', namespace: 'shop', uid: 'uid-p', resourceVersion: '1', ...metadata },
  status: { phase },
});

describe('a drain', () => {
  it.each<[string, Stored<Pod>, boolean]>([
    ['evicts a pod of a ReplicaSet', pod({ ownerReferences: owned('ReplicaSet') }), true],
    ['evicts a pod that nobody will make again', pod(), true],
    ['evicts a pod that has not started', pod({}, 'Pending'), true],
    ['leaves a pod of a DaemonSet', pod({ ownerReferences: owned('DaemonSet') }), false],
    ['does not take an owner for the controller', pod({ ownerReferences: owned('DaemonSet', false) }), true],
    ['leaves a mirror pod', pod({ annotations: { 'kubernetes.io/config.mirror': '' } }), false],
    ['leaves a pod that has succeeded', pod({}, 'Succeeded'), false],
    ['leaves a pod that has failed', pod({}, 'Failed'), false],
  ])('%s', (_, given, isEvicted) => {
    expect(podFactsOf(given) !== null).toBe(isEvicted);
  });

  it('sees whose a pod is, and when its time to end is over', () => {
    const facts = podFactsOf(
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
