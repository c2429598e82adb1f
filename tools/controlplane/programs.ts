/** The external programs of a control plane: how to build each, read its version, and which versions are supported. */
export const programs = {
  etcd: {
    package: 'go.etcd.io/etcd/server/v3',
    versionArgs: ['--version'],
    // Older versions lack progress requests on watches, without which WatchList fails with status 500.
    accepts: [
      { from: [3, 5, 13], below: [3, 6, 0] },
      { from: [3, 6, 0], below: [4, 0, 0] },
    ],
    expected: '3.5.13 or newer',
  },
  'kube-apiserver': {
    package: 'k8s.io/kubernetes/cmd/kube-apiserver',
    versionArgs: ['--version'],
    accepts: [{ from: [1, 34, 0], below: [2, 0, 0] }],
    expected: '1.34 or newer',
  },
  'kube-controller-manager': {
    package: 'k8s.io/kubernetes/cmd/kube-controller-manager',
    versionArgs: ['--version'],
    accepts: [{ from: [1, 34, 0], below: [2, 0, 0] }],
    expected: '1.34 or newer',
  },
  kubelet: {
    package: 'k8s.io/kubernetes/cmd/kubelet',
    versionArgs: ['--version'],
    accepts: [{ from: [1, 34, 0], below: [2, 0, 0] }],
    expected: '1.34 or newer',
  },
  kubectl: {
    package: 'k8s.io/kubernetes/cmd/kubectl',
    versionArgs: ['version', '--client'],
    accepts: [{ from: [1, 30, 0], below: [2, 0, 0] }],
    expected: '1.30 or newer',
  },
} as const satisfies Record<string, ProgramInfo>;

interface ProgramInfo {
  package: string;
  versionArgs: readonly string[];
  accepts: readonly { from: Version; below: Version }[];
  expected: string;
}

export type ProgramName = keyof typeof programs;

export type Version = readonly [major: number, minor: number, patch: number];

/** The first version in a program's output: "Kubernetes v1.36.3", "etcd Version: 3.6.8", "go1.26.8". */
export function parseVersion(output: string): Version | undefined {
  const found = /(?:^|[^\d.])(\d+)\.(\d+)(?:\.(\d+))?/m.exec(output);
  return found === null ? undefined : [Number(found[1]), Number(found[2]), Number(found[3] ?? 0)];
}

export function isAtLeast(version: Version, least: Version): boolean {
  const differs = version.findIndex((part, index) => part !== least[index]);
  return differs === -1 || (version[differs] ?? 0) > (least[differs] ?? 0);
}

export type Verdict = { ok: true; version: string } | { ok: false; reason: string };

/** Whether a program with this version output is supported. */
export function judgeVersion(name: ProgramName, output: string): Verdict {
  const { accepts, expected } = programs[name];
  const version = parseVersion(output);
  if (version === undefined) return { ok: false, reason: `does not report its version; ${expected} is required` };
  const text = version.join('.');
  const ok = accepts.some(({ from, below }) => isAtLeast(version, from) && !isAtLeast(version, below));
  return ok ? { ok, version: text } : { ok, reason: `is version ${text}; ${expected} is required` };
}
