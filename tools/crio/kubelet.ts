import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { SystemdNode } from '../nspawn/node.ts';
import { PROGRAMS } from './configuration.ts';

export interface KubeletOptions {
  /** Above this percentage of the store, images that are neither used nor pinned are deleted. */
  imageGCHighThresholdPercent: number;
  /** Down to this percentage. */
  imageGCLowThresholdPercent: number;
}

/** What a node needs from this machine to run this kubelet, for `files`. It reads out-of-memory kills from kmsg. */
export const kubeletFiles = (kubelet: string): Record<string, string> => ({
  [join(PROGRAMS, 'kubelet')]: kubelet,
  '/dev/kmsg': '/dev/kmsg',
});

// The kubelet sets these, and exits if it cannot. The kernel is that of this machine: the node has files instead.
const KERNEL = { 'vm/overcommit_memory': '1', 'kernel/panic': '10', 'kernel/panic_on_oops': '1' };

const PREPARE = Object.entries(KERNEL).map(
  ([name, value]) =>
    `ExecStartPre=/bin/sh -c "f=/run/kernel-$$(basename ${name}); echo ${value} >$$f; mount --bind $$f /proc/sys/${name}"`,
);

const UNIT = `[Unit]
After=crio.service

[Service]
${PREPARE.join('\n')}
ExecStart=${PROGRAMS}/kubelet --config=/etc/kubernetes/kubelet.json --v=2
`;

/**
 * Starts a real kubelet on a node that runs CRI-O. It is standalone, without a cluster or pods: it collects image
 * garbage five minutes after its start and every five minutes from then on.
 */
export async function startKubelet(node: SystemdNode, options: KubeletOptions): Promise<void> {
  const configuration = {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    authentication: { anonymous: { enabled: false }, webhook: { enabled: false } },
    authorization: { mode: 'AlwaysAllow' },
    // The network is that of this machine: occupy no port.
    enableServer: false,
    healthzPort: 0,
    containerRuntimeEndpoint: 'unix:///run/crio/crio.sock',
    // On a machine with both cgroup versions, the kubelet cannot manage those of a node.
    cgroupsPerQOS: false,
    enforceNodeAllocatable: [],
    failCgroupV1: false,
    failSwapOn: false,
    makeIPTablesUtilChains: false,
    imageMinimumGCAge: '1s',
    // Only the thresholds below count: the rest of this machine's disk and memory must not affect the test.
    evictionHard: Object.fromEntries(
      ['imagefs.available', 'memory.available', 'nodefs.available', 'nodefs.inodesFree'].map((name) => [name, '0%']),
    ),
    ...options,
  };
  const files = {
    '/etc/kubernetes/kubelet.json': JSON.stringify(configuration),
    '/etc/systemd/system/kubelet.service': UNIT,
  };
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(node.root, path)), { recursive: true });
    await writeFile(join(node.root, path), text);
  }
  await node.sh('systemctl daemon-reload && systemctl start kubelet.service');
}
