// A fleet to roll configs out over: real control plane, our controllers and server as processes, the real daemons on
// simulated machines.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { machineConfigPools, machineConfigs, nodeAnnotations, nodes } from '@slipway/api';
import type { MachineConfigPool, Node } from '@slipway/api';
import { createFetcher } from '@slipway/controllers';
import { type Client, createInformer, type Informer, silentLog } from '@slipway/kube';
import { type SimulatedFleet, startFleet as startMachines } from '@slipway/simulator';
import { type InProcessCommand, runInProcess } from '@slipway/slipway/testing/in-process';
import { machineConfig, type MachineConfigSpec } from '@slipway/testing/builders';
import { connect } from '@slipway/testing/control-plane';
import { until } from '@slipway/testing/wait';
import { expect } from 'vitest';
import { type Fleet, startFleet as startCluster } from '../first-boot/fleet.ts';

export interface RolloutScene {
  readonly cluster: Fleet;
  /** An administrator's. */
  readonly client: Client;
  readonly kubeconfig: string;
  readonly machines: SimulatedFleet;
  /** What nodes say, as a watch brings it. */
  readonly nodes: Informer<Node>;
  /** Makes a MachineConfig of this role, or changes it. Resolves to the pool's new rendered config. */
  apply(name: string, pool: string, spec: MachineConfigSpec): Promise<string>;
  /** Takes a MachineConfig away. Resolves to the pool's new rendered config. */
  remove(name: string, pool: string): Promise<string>;
  pool(name: string): Promise<MachineConfigPool>;
  patchPool(name: string, body: object): Promise<void>;
  /** Resolves once every machine of the pool has this config and the pool says so. */
  updated(pool: string, config: string, machines: number): Promise<void>;
  node(name: string): Promise<Node>;
  patchNode(name: string, body: object): Promise<void>;
  /** Text of a file of a machine. */
  file(machine: string, path: string): Promise<string | undefined>;
  /** Runs a slipway command against the cluster, which has to end well. */
  run(command: InProcessCommand, ...args: string[]): Promise<string>;
  stop(): Promise<void>;
}

export interface SceneOptions {
  /** What there is before the first machine is born. */
  readonly prepare?: (cluster: Fleet) => Promise<void>;
  readonly wrapHost?: Parameters<typeof startMachines>[0]['wrapHost'];
}

export async function startRolloutScene(
  shares: Readonly<Record<string, number>>,
  { prepare = async () => {}, wrapHost }: SceneOptions = {},
): Promise<RolloutScene> {
  const cluster = await startCluster();
  await prepare(cluster);
  const directory = await mkdtemp(join(tmpdir(), 'slipway-rollout-'));
  const kubeconfig = await cluster.kubeconfigFor({ user: 'admin', groups: ['system:masters'], name: 'admin' });
  const client = await connect(kubeconfig);
  const machines = await startMachines({
    transport: client.transport,
    directory,
    shares: Object.entries(shares).map(([pool, count]) => ({ pool, machines: count })),
    log: silentLog(),
    fetch: createFetcher({ attempts: 60, backoffMs: 250 }),
    programVersion: 'test',
    bootMs: 100,
    wrapHost,
  });
  const ended = new AbortController();
  const informer = createInformer<Node>(client.transport, { resource: nodes });
  informer.start(ended.signal);
  await informer.synced;

  const pool = (name: string) => client.get(machineConfigPools, { name });
  const newest = async (name: string): Promise<string> => (await pool(name)).spec.configuration?.name ?? '';
  const rendered = async (name: string, change: () => Promise<unknown>): Promise<string> => {
    const before = await newest(name);
    await change();
    return cluster.renderedOtherThan(name, before);
  };
  return {
    cluster,
    client,
    kubeconfig,
    machines,
    nodes: informer,
    apply: (name, poolName, spec) =>
      rendered(poolName, async () => {
        const found = await client.find(machineConfigs, { name });
        if (found === undefined) {
          await client.create(machineConfigs, machineConfig(name, poolName, spec));
        } else {
          const patch = { type: 'json', body: [{ op: 'replace', path: '/spec', value: spec }] } as const;
          await client.patch(machineConfigs, { name }, patch, {});
        }
      }),
    remove: (name, poolName) => rendered(poolName, () => client.delete(machineConfigs, { name }, {})),
    pool,
    async patchPool(name, body) {
      await client.patch(machineConfigPools, { name }, { type: 'merge', body }, {});
    },
    updated: (name, config, count) =>
      until(async () => {
        const { status } = await pool(name);
        const updated = status?.conditions?.find(({ type }) => type === 'Updated');
        expect({ ...status, conditions: [updated] }).toMatchObject({
          configuration: { name: config },
          machineCount: count,
          updatedMachineCount: count,
          unavailableMachineCount: 0,
          conditions: [{ status: 'True' }],
        });
      }, 'rollout'),
    node: (name) => client.get(nodes, { name }),
    async patchNode(name, body) {
      await client.patch(nodes, { name }, { type: 'merge', body }, {});
    },
    file: (machine, path) => readFile(join(machines.rootOf(machine), path), 'utf8').catch(() => undefined),
    async run(command, ...args) {
      const { code, out, err } = await runInProcess(command, ...args, '--kubeconfig', kubeconfig);
      if (code !== 0) throw new Error(`slipway ${command} ${args.join(' ')} ended with ${code}: ${err}`);
      return out;
    },
    async stop() {
      ended.abort();
      await machines.stop();
      await client.transport.close();
      await cluster.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

export const desiredOf = ({ metadata }: Node): string | undefined =>
  metadata.annotations?.[nodeAnnotations.desiredConfig];
export const currentOf = ({ metadata }: Node): string | undefined =>
  metadata.annotations?.[nodeAnnotations.currentConfig];
export const stateOf = ({ metadata }: Node): string | undefined => metadata.annotations?.[nodeAnnotations.state];

/** Cordoned, down, or on the way from one config to another. */
const isOut = (node: Node): boolean =>
  node.spec?.unschedulable === true ||
  (desiredOf(node) !== undefined && desiredOf(node) !== currentOf(node)) ||
  stateOf(node) !== 'Done' ||
  node.status?.conditions?.some(({ type, status }) => type === 'Ready' && status !== 'True') === true;

/** The most nodes with this label that were out of service at once from here on. */
export function countOut(scene: RolloutScene, label: string): { most(): number; stop(): void } {
  let most = 0;
  const stop = scene.nodes.onChange(() => {
    const out = [...scene.nodes.store.values()].filter(
      (node) => node.metadata.labels?.[label] !== undefined && isOut(node),
    );
    most = Math.max(most, out.length);
  });
  return { most: () => most, stop };
}
