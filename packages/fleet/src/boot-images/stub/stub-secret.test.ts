import { describe, expect, it } from 'vitest';
import { isCollectableCopy } from './stub-secret.ts';

const ours = {
  name: 'mine-slipway',
  labels: { 'app.kubernetes.io/managed-by': 'slipway' },
  annotations: { 'slipway.dev/stub-copy-of': 'mine' },
};

describe('a Secret that nobody refers to', () => {
  it.each<[string, Parameters<typeof isCollectableCopy>[0], boolean]>([
    ['goes where it is our copy', ours, true],
    ['stays where we did not label it', { ...ours, labels: {} }, false],
    ['stays where it is a copy of nothing', { ...ours, annotations: {} }, false],
    ['stays where it has not the name of a copy of that', { ...ours, name: 'other-slipway' }, false],
    ['stays where it is the managed stub', { name: 'worker-user-data-managed', labels: ours.labels }, false],
    ['stays where somebody has a finalizer on it', { ...ours, finalizers: ['example.com/mine'] }, false],
    ['is not deleted twice', { ...ours, deletionTimestamp: '2026-03-01T11:00:00Z' }, false],
  ])('%s', (_, metadata, expected) => {
    expect(isCollectableCopy(metadata)).toBe(expected);
  });
});
