import type { KubeObject, Resource } from '@slipway/kube';

export interface Node extends KubeObject {
  spec?: object;
  status?: { images?: unknown; conditions?: object[] };
}

export const nodes: Resource<Node> = { group: '', version: 'v1', kind: 'Node', plural: 'nodes', namespaced: false };

const image = (node: number, i: number): object => {
  const digest = `${node}${i}`.padStart(64, '0');
  return {
    names: [
      `registry.example.com/payload/component-${i}@sha256:${digest}`,
      `registry.example.com/payload/component-${i}:4.20.${i}`,
    ],
    sizeBytes: 100_000_000 + node + i,
  };
};

const condition = (type: string, i: number): object => ({
  type,
  status: type === 'Ready' ? 'True' : 'False',
  lastHeartbeatTime: '2026-01-01T00:00:00Z',
  lastTransitionTime: '2026-01-01T00:00:00Z',
  reason: `Kubelet${type}`,
  message: `kubelet on node ${i} has reported ${type}`,
});

/** A Node as a kubelet registers it: about 15 kB of JSON with the managedFields that the server adds. */
export function benchNode(i: number): Node {
  const name = `worker-${String(i).padStart(5, '0')}`;
  return {
    metadata: {
      name,
      labels: {
        'kubernetes.io/hostname': name,
        'kubernetes.io/arch': 'amd64',
        'node-role.kubernetes.io/worker': '',
        'topology.kubernetes.io/zone': `zone-${i % 3}`,
      },
      annotations: {
        'machineconfiguration.openshift.io/currentConfig': 'rendered-worker-0123456789abcdef0123456789abcdef',
        'machineconfiguration.openshift.io/desiredConfig': 'rendered-worker-0123456789abcdef0123456789abcdef',
        'machineconfiguration.openshift.io/state': 'Done',
        'example.com/network': JSON.stringify({ mode: 'shared', mac: `0a:58:0a:80:${i % 256}`, ips: ['10.0.0.1/24'] }),
      },
    },
    spec: { podCIDR: `10.${i % 200}.0.0/24`, providerID: `bench:///zone-${i % 3}/${name}` },
    status: {
      conditions: ['MemoryPressure', 'DiskPressure', 'PIDPressure', 'Ready'].map((type) => condition(type, i)),
      images: Array.from({ length: 50 }, (_, index) => image(i, index)),
    },
  };
}
