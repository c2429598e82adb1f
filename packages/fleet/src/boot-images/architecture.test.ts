import { describe, expect, it } from 'vitest';
import { type ArchitectureContext, detectArchitecture, type ArchitectureSource } from './architecture.ts';

const one: ArchitectureContext = { platform: 'aws', clusterArchitecture: '', ownArchitecture: 'amd64' };
const multi: ArchitectureContext = { ...one, clusterArchitecture: 'Multi' };
const capacity = (labels: string): ArchitectureSource => ({
  metadata: { annotations: { 'capacity.cluster-autoscaler.kubernetes.io/labels': labels } },
});
const label = { labels: { 'kubernetes.io/arch': 'arm64' } };

describe('machines are of the architecture', () => {
  it.each([
    ['that their capacity says', capacity('kubernetes.io/arch=arm64'), multi, 'aarch64'],
    ['that is among other labels', capacity(' a=b , kubernetes.io/arch=ppc64le ,c'), multi, 'ppc64le'],
    ['that the set says', { metadata: label }, multi, 'aarch64'],
    ['that the labels of its machines say', { spec: { template: { metadata: label } } }, multi, 'aarch64'],
    ['that the labels of its nodes say', { spec: { template: { spec: { metadata: label } } } }, multi, 'aarch64'],
    [
      'that all say alike',
      { ...capacity('kubernetes.io/arch=arm64'), spec: { template: { metadata: label } } },
      multi,
      'aarch64',
    ],
    ['that their platform has alone', {}, { ...multi, platform: 'powervs' as const }, 'ppc64le'],
    ['of the cluster', {}, one, 'x86_64'],
    [
      'of the cluster, where capacity speaks of other things',
      capacity('a=b'),
      { ...one, ownArchitecture: 's390x' },
      's390x',
    ],
    ['that they say before that of the cluster', capacity('kubernetes.io/arch=arm64'), one, 'aarch64'],
  ])('%s', (_, machines, context, architecture) => {
    expect(detectArchitecture(machines, context)).toEqual({ ok: true, architecture });
  });

  it.each([
    ['nothing says it in a cluster of more than one', {}, multi, 'unsaid', 'expected kubernetes.io/arch='],
    ['capacity speaks of other things in such a cluster', capacity('a=b'), multi, 'unsaid', 'found none'],
    ['what is said is unknown', capacity('kubernetes.io/arch=riscv64'), one, 'wrong', 'found "riscv64"'],
    ['it is named as stream metadata names it', capacity('kubernetes.io/arch=x86_64'), one, 'wrong', 'found "x86_64"'],
    ['what is said is empty', capacity('kubernetes.io/arch='), one, 'wrong', 'found ""'],
    [
      'two are said',
      capacity('kubernetes.io/arch=amd64,kubernetes.io/arch=arm64'),
      one,
      'wrong',
      '"amd64" and "arm64"',
    ],
    [
      'labels contradict',
      { ...capacity('kubernetes.io/arch=amd64'), spec: { template: { metadata: label } } },
      one,
      'wrong',
      '"amd64" and "arm64"',
    ],
  ])('that cannot be told, where %s', (_, machines, context, reason, message) => {
    expect(detectArchitecture(machines, context)).toEqual({
      ok: false,
      reason,
      code: 'SLW_BOOT_IMAGES_ARCH',
      message: expect.stringContaining(message),
    });
  });
});
