import { describe, expect, it } from 'vitest';
import { isCollectableCopy } from './stub-secret.ts';

const ours = {
  name: 'mine-slipway',
  labels: { 'app.kubernetes.io/managed-by': 'slipway' },
  annotations: { 'slipway.dev/stub-copy-of': 'mine' },
};

describe('an unreferenced Secret', () => {
  it.each<[string, Parameters<typeof isCollectableCopy>[0], boolean]>([
    ['is deleted if it is our copy', ours, true],
    ['stays without our label', { ...ours, labels: {} }, false],
    ['stays without an original', { ...ours, annotations: {} }, false],
    ['stays if its name does not match its original', { ...ours, name: 'other-slipway' }, false],
    ['stays if it is the managed stub', { name: 'worker-user-data-managed', labels: ours.labels }, false],
    ['stays if it has a finalizer', { ...ours, finalizers: ['example.com/mine'] }, false],
    ['is not deleted twice', { ...ours, deletionTimestamp: '2026-03-01T11:00:00Z' }, false],
  ])('%s', (_, metadata, expected) => {
    expect(isCollectableCopy(metadata)).toBe(expected);
  });
});
