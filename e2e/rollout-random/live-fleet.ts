// A fleet on the real API server: real controllers in a manager that can be killed, and machines that are models of their
// daemons, in real time.
import {
  type MachineConfigPool,
  machineConfigPools,
  machineConfigs,
  machineConfigurations,
  type Node,
  nodes,
} from '@slipway/api';
import { drainController, rolloutController } from '@slipway/controllers';
import {
  type Change,
  type MachineEnvironment,
  runMachine,
  type SimulatedMachine,
} from '@slipway/controllers/testing/simulation';
import { formatApiVersion, type Client, createInformer, type Informer, isKubeError, type Stored } from '@slipway/kube';
import { machineConfigPool, node as nodeWith, renderedConfig } from '@slipway/testing/builders';
import { createRandom, hashText, type Random } from '@slipway/testing/random';
import { runControllers, type RunningControllers } from '@slipway/testing/run-controllers';
import { readyCondition } from '@slipway/testing/stand-in-kubelet';

export interface LiveFleet {
  readonly nodes: Informer<Node>;
  readonly pools: Informer<MachineConfigPool>;
  addPool(name: string, spec: Partial<MachineConfigPool['spec']>, annotations: Record<string, string>): Promise<void>;
  render(pool: string, isBad?: boolean): Promise<string>;
  isBad(config: string): boolean;
  patchPool(name: string, body: object): Promise<void>;
  addNode(pool: string, name: string): Promise<void>;
  /** Nothing happens where it is gone already. */
  removeNode(name: string): Promise<void>;
  patchNode(name: string, body: object, subresource?: 'status'): Promise<void>;
  /** Machines that were told to boot come up from now on. */
  calmDown(): void;
  /** As if the process of the controllers had been killed, and another one started. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export const ready = (isReady: boolean) => ({ status: { conditions: [readyCondition(isReady)] } });

export async function startLiveFleet(client: Client, seed: number): Promise<LiveFleet> {
  const ended = new AbortController();
  const random = createRandom(seed);
  const bad = new Set<string>();
  const machines = new Map<string, SimulatedMachine>();
  /** What machines are writing: nobody is cut off when the fleet stops. */
  const underWay = new Set<Promise<void>>();
  const informer = createInformer<Node>(client.transport, { resource: nodes });
  const pools = createInformer<MachineConfigPool>(client.transport, { resource: machineConfigPools });
  let made = 0;
  let isCalm = false;
  const start = (): RunningControllers => runControllers(client, [rolloutController(), drainController()]);
  let running = start();

  informer.onChange((change) => {
    if (change.type !== 'deleted') machines.get(change.object.metadata.uid)?.wake();
  });
  informer.start(ended.signal);
  pools.start(ended.signal);
  await Promise.all([informer.synced, pools.synced]);
  await client.create(machineConfigurations, { metadata: { name: 'cluster' }, spec: {} });

  const patchNode = async (name: string, body: object, subresource?: 'status'): Promise<void> => {
    await ifThere(client.patch(nodes, { name }, { type: 'merge', body }, {}, { subresource }));
  };

  function drawChange(name: string, from: string, to: string): Change {
    const draw = (hashText(`${from} ${to}`) % 100) / 100;
    const fails = bad.has(to) && hashText(`${name} ${to}`) % 2 === 0;
    return { isEmpty: false, needsDrain: draw < 0.7, reboots: draw > 0.4, end: fails ? 'fails' : 'works' };
  }

  function buildSite({ metadata: { name, uid } }: Stored<Node>): MachineEnvironment {
    const write = (body: object, subresource?: 'status'): Promise<void> => {
      const writing = ifThere(client.patch(nodes, { name }, { type: 'merge', body }, { uid }, { subresource }));
      underWay.add(writing);
      return writing.finally(() => underWay.delete(writing));
    };
    return {
      after: (ms, happen) => void setTimeout(() => ended.signal.aborted || happen(), ms).unref(),
      read: async () => {
        // The watch may not have brought it yet.
        const node = informer.store.get(name) ?? (await client.find(nodes, { name }));
        return node?.metadata.uid === uid ? (node.metadata.annotations ?? {}) : null;
      },
      say: (annotations) => write({ metadata: { annotations } }),
      setReady: (isReady) => write(ready(isReady), 'status'),
      changeOf: (from, to) => drawChange(name, from, to),
      takes: {
        notice: () => random.int(1, 20),
        prepare: () => random.int(1, 100),
        apply: () => random.int(1, 100),
        boot: () => random.int(20, isCalm ? 200 : 1000),
      },
      isMissed: () => random.chance(0.5),
    };
  }

  return {
    nodes: informer,
    pools,
    async addPool(name, spec, annotations) {
      await client.create(machineConfigPools, machineConfigPool(name, spec, annotations));
    },
    async render(pool, isBad = false) {
      made += 1;
      const name = `rendered-${pool}-${String(made).padStart(32, '0')}`;
      if (isBad) bad.add(name);
      await client.create(machineConfigs, renderedConfig(name, pool));
      const configuration = { apiVersion: formatApiVersion(machineConfigs), kind: machineConfigs.kind, name };
      const patch = { type: 'merge', body: { spec: { configuration } } } as const;
      await client.patch(machineConfigPools, { name: pool }, patch, {});
      return name;
    },
    isBad: (config) => bad.has(config),
    async patchPool(name, body) {
      await client.patch(machineConfigPools, { name }, { type: 'merge', body }, {});
    },
    async addNode(pool, name) {
      const { spec } = await client.get(machineConfigPools, { name: pool });
      const born = spec.configuration?.name ?? '';
      const node = await client.create(nodes, {
        ...nodeWith(name, { pools: ['worker', pool], config: born }),
        ...ready(true),
      });
      const machine = runMachine(buildSite(node), born);
      machines.set(node.metadata.uid, machine);
      machine.wake();
    },
    removeNode: (name) => ifThere(client.delete(nodes, { name }, {})),
    patchNode,
    calmDown() {
      isCalm = true;
    },
    async restart() {
      await kill(running);
      running = start();
    },
    async stop() {
      ended.abort();
      await kill(running);
      await Promise.allSettled(underWay);
    },
  };
}

/** What the process remembered is gone with it. */
async function kill(running: RunningControllers): Promise<void> {
  running.kill();
  await running.stop();
}

/** A node can be deleted at any time: what is written to it then is lost. */
async function ifThere(call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (!isKubeError(error, 'SLW_KUBE_NOT_FOUND', 'SLW_KUBE_CONFLICT')) throw error;
  }
}

export const pickOne = <T>(random: Random, items: readonly T[]): T | undefined =>
  items.length === 0 ? undefined : random.pick(items);
