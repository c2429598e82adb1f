import { describe, expect, it } from 'vitest';
import { isAtLeast, judgeVersion, parseVersion, type ProgramName } from './programs.ts';

describe('the version that a program reports', () => {
  it.each([
    ['Kubernetes v1.36.3', [1, 36, 3]],
    ['etcd Version: 3.6.8\nGit SHA: Not provided\nGo Version: go1.26.8', [3, 6, 8]],
    ['Client Version: v1.32.4\nKustomize Version: v5.5.0', [1, 32, 4]],
    ['Kubernetes v1.35.0-alpha.2+abc', [1, 35, 0]],
    ['go1.26', [1, 26, 0]],
    ['no number here', undefined],
    ['', undefined],
  ])('%j is %j', (output, version) => {
    expect(parseVersion(output)).toEqual(version);
  });

  it.each([
    [[1, 26, 0], [1, 26, 0], true],
    [[1, 26, 1], [1, 26, 0], true],
    [[2, 0, 0], [1, 26, 9], true],
    [[1, 25, 9], [1, 26, 0], false],
    [[1, 9, 0], [1, 26, 0], false],
  ] as const)('%j at least %j: %j', (version, least, answer) => {
    expect(isAtLeast(version, least)).toBe(answer);
  });
});

describe('supported programs', () => {
  it.each<[ProgramName, string, boolean]>([
    ['etcd', 'etcd Version: 3.4.23', false],
    ['etcd', 'etcd Version: 3.5.1', false],
    ['etcd', 'etcd Version: 3.5.12', false],
    ['etcd', 'etcd Version: 3.5.13', true],
    ['etcd', 'etcd Version: 3.6.0', true],
    ['etcd', 'etcd Version: 3.6.8', true],
    ['etcd', 'etcd Version: 4.0.0', false],
    ['kube-apiserver', 'Kubernetes v1.33.9', false],
    ['kube-apiserver', 'Kubernetes v1.34.0', true],
    ['kube-apiserver', 'Kubernetes v1.40.1', true],
    ['kube-apiserver', 'Kubernetes v2.0.0', false],
    ['kube-apiserver', 'Kubernetes v0.0.0-master+$Format:%H$', false],
    ['kube-controller-manager', 'Kubernetes v1.36.3', true],
    ['kubelet', 'Kubernetes v1.36.3', true],
    ['kubectl', 'Client Version: v1.29.0', false],
    ['kubectl', 'Client Version: v1.30.0', true],
  ])('%s that prints %j: %j', (name, output, ok) => {
    expect(judgeVersion(name, output).ok).toBe(ok);
  });

  it('a refusal names what was found and what is needed', () => {
    expect(judgeVersion('etcd', 'etcd Version: 3.5.1')).toEqual({
      ok: false,
      reason: 'is version 3.5.1; 3.5.13 or newer is required',
    });
    expect(judgeVersion('kubectl', 'error')).toEqual({
      ok: false,
      reason: 'does not report its version; 1.30 or newer is required',
    });
  });
});
