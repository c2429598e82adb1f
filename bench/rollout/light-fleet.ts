// Machines that exist only as reports on their Nodes: a model replaces the daemon, so that thousands of them leave the
// processor to what is measured. e2e/model-daemon.e2e.test.ts verifies the model against the real daemon.
import { machineConfigs, type Node, nodes, ROLE_LABEL } from '@slipway/api';
import { type Annotations, runMachine, type SimulatedMachine } from '@slipway/controllers/testing/simulation';
import { type Client, createInformer, type Informer } from '@slipway/kube';

export interface LightFleet {
  readonly names: readonly string[];
  readonly nodes: Informer<Node>;
  stop(): void;
}

/** Short, so that the time is spent in the controllers and the API server. */
const APPLY_MS = 20;
const BOOT_MS = 100;
const ZONES = 3;
const AT_ONCE = 32;

const buildNode = (index: number): Node => ({
  metadata: {
    name: `worker-${index}`,
    labels: {
      'node-role.kubernetes.io/worker': '',
      'topology.kubernetes.io/zone': `zone-${(index % ZONES) + 1}`,
    },
  },
  status: buildStatus(true),
});

const buildStatus = (isReady: boolean): NonNullable<Node['status']> => {
  const lastTransitionTime = `${new Date().toISOString().slice(0, 19)}Z`;
  return { conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False', reason: 'Bench', lastTransitionTime }] };
};

/** This many workers, all provisioned with this config. */
export async function startLightFleet(client: Client, count: number, born: string): Promise<LightFleet> {
  const ended = new AbortController();
  const informer = createInformer<Node>(client.transport, { resource: nodes, as: 'metadata', expect: 'many' });
  const machines = new Map<string, SimulatedMachine>();
  informer.onChange((change) => {
    if (change.type !== 'deleted') machines.get(change.object.metadata.name)?.wake();
  });
  informer.start(ended.signal);
  await informer.synced;
  const indexes = Array.from({ length: count }, (_, index) => index).values();
  const make = async (): Promise<void> => {
    for (const index of indexes) {
      const node = buildNode(index);
      const { name } = node.metadata;
      machines.set(name, startMachine(client, informer, name, born));
      await client.create(nodes, node);
      machines.get(name)?.wake();
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, make));
  return { names: [...machines.keys()], nodes: informer, stop: () => ended.abort() };
}

function startMachine(client: Client, informer: Informer<Node>, name: string, born: string): SimulatedMachine {
  const read = (): Annotations | null => informer.store.get(name)?.metadata.annotations ?? {};
  return runMachine(
    {
      after: (ms, happen) => void setTimeout(happen, ms),
      read: async () => read(),
      async say(annotations) {
        const before = read() ?? {};
        const changed = Object.entries(annotations).filter(([key, value]) => (before[key] ?? '') !== value);
        if (changed.length === 0) return;
        const body = { metadata: { annotations: Object.fromEntries(changed) } };
        await client.patch(nodes, { name }, { type: 'merge', body }, {});
      },
      async setReady(isReady) {
        const body = { status: buildStatus(isReady) };
        await client.patch(nodes, { name }, { type: 'strategic', body }, {}, { subresource: 'status' });
      },
      changeOf: () => ({ isEmpty: false, needsDrain: true, reboots: true, end: 'works' }),
      takes: { notice: () => 0, prepare: () => 0, apply: () => APPLY_MS, boot: () => BOOT_MS },
      isMissed: () => true,
    },
    born,
  );
}

/** A file without a node disruption policy: every machine is drained and rebooted. */
export async function changeWorkers(client: Client, name: string): Promise<void> {
  const files = [{ path: `/etc/motd.d/${name}`, overwrite: true, contents: { source: 'data:,bench' } }];
  const config = { ignition: { version: '3.5.0' }, storage: { files } };
  await client.create(machineConfigs, { metadata: { name, labels: { [ROLE_LABEL]: 'worker' } }, spec: { config } });
}
