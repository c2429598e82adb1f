import { describe, expect, it } from 'vitest';
import { type ArchitectureContext, detectArchitecture, type ArchitectureSource } from './architecture.ts';

const one: ArchitectureContext = { platform: 'aws', clusterArchitecture: '', ownArchitecture: 'amd64' };
const multi: ArchitectureContext = { ...one, clusterArchitecture: 'Multi' };
const capacity = (labels: string): ArchitectureSource => ({
  metadata: { annotations: { 'capacity.cluster-autoscaler.kubernetes.io/labels': labels } },
});
const label = { labels: { 'kubernetes.io/arch': 'arm64' } };

describe('machines have the architecture', () => {
  it.each([
    ['from the capacity annotation', capacity('kubernetes.io/arch=arm64'), multi, 'aarch64'],
    ['that is among other labels', capacity(' a=b , kubernetes.io/arch=ppc64le ,c'), multi, 'ppc64le'],
    ['from the labels of the set', { metadata: label }, multi, 'aarch64'],
    ['from the labels of its machines', { spec: { template: { metadata: label } } }, multi, 'aarch64'],
    ['from the labels of its nodes', { spec: { template: { spec: { metadata: label } } } }, multi, 'aarch64'],
    [
      'that all of these agree on',
      { ...capacity('kubernetes.io/arch=arm64'), spec: { template: { metadata: label } } },
      multi,
      'aarch64',
    ],
    ['that their platform has alone', {}, { ...multi, platform: 'powervs' as const }, 'ppc64le'],
    ['of the cluster', {}, one, 'x86_64'],
    [
      'of the cluster, if the capacity annotation has other labels',
      capacity('a=b'),
      { ...one, ownArchitecture: 's390x' },
      's390x',
    ],
    ['from the annotation rather than that of the cluster', capacity('kubernetes.io/arch=arm64'), one, 'aarch64'],
  ])('%s', (_, machines, context, architecture) => {
    expect(detectArchitecture(machines, context)).toEqual({ ok: true, architecture });
  });

  it.each([
    ['nothing specifies it in a multi-architecture cluster', {}, multi, 'unsaid', 'expected kubernetes.io/arch='],
    ['the capacity annotation of such a cluster has other labels', capacity('a=b'), multi, 'unsaid', 'found none'],
    ['the value is unknown', capacity('kubernetes.io/arch=riscv64'), one, 'wrong', 'found "riscv64"'],
    [
      'the value is spelled as in stream metadata',
      capacity('kubernetes.io/arch=x86_64'),
      one,
      'wrong',
      'found "x86_64"',
    ],
    ['the value is empty', capacity('kubernetes.io/arch='), one, 'wrong', 'found ""'],
    [
      'two values conflict',
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
  ])('is refused if %s', (_, machines, context, reason, message) => {
    expect(detectArchitecture(machines, context)).toEqual({
      ok: false,
      reason,
      code: 'SLW_BOOT_IMAGES_ARCH',
      message: expect.stringContaining(message),
    });
  });
});
