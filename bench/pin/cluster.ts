// A real control plane with Slipway installed and one node. The benchmark does the controllers' work for that node:
// only the daemon is measured.
import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import {
  controllerUser,
  DEFAULT_NAMESPACE,
  type MachineConfigNode,
  machineConfigNodes,
  machineConfigs,
  nodeAnnotations,
  nodes,
  pinnedImageSets,
} from '@slipway/api';
import { pinAssignmentAnnotation } from '@slipway/api/names';
import { encodeAssignment } from '@slipway/fleet';
import { type Client, createClient, createInformer, createTransport, loadKubeconfig } from '@slipway/kube';
import { startControlPlane } from '@slipway/tools/controlplane';
import { run } from '@slipway/tools/run';
import { buildConfig } from '../apply/configs.ts';
import { CONFIG } from './bench-node.ts';

const main = resolve(import.meta.dirname, '../../packages/slipway/src/main.ts');
const WAIT_MS = 900_000;
const POLL_MS = 50;

export interface BenchCluster {
  readonly node: string;
  readonly nodeKubeconfig: string;
  /** Resolves with its name. */
  makeSet(name: string, images: readonly string[]): Promise<string>;
  /** Assigns these sets to the node. */
  assign(sets: readonly string[], parallel: number): Promise<void>;
  /** Removes the reports of the last daemon, which mean nothing for the next. */
  forgetDaemon(): Promise<void>;
  /** Resolves when the daemon has started to report. */
  daemonIsUp(): Promise<void>;
  /** Resolves when the node reports the set as pinned. */
  isPinned(set: string): Promise<void>;
  stop(): Promise<void>;
}

export async function startCluster(): Promise<BenchCluster> {
  const controlPlane = await startControlPlane();
  await run(process.execPath, [main, 'install', '--kubeconfig', controlPlane.kubeconfig]);
  const groups = [`system:serviceaccounts:${DEFAULT_NAMESPACE}`, 'system:masters'];
  const operator = await controlPlane.kubeconfigFor({
    user: controllerUser(DEFAULT_NAMESPACE),
    groups,
    name: 'operator',
  });
  const client = createClient(createTransport(await loadKubeconfig([operator])));
  const node = promptName();
  await makeNode(client, node);
  const record = createInformer(client.transport, { resource: machineConfigNodes });
  const following = new AbortController();
  record.start(following.signal);
  await record.synced;
  /** Watched, not polled: the API server runs on the same two cores as what is measured. */
  async function holds(what: string, isSo: (held: readonly string[]) => boolean): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const checkHeld = (): void => {
      if (isSo(heldSets(record.store.get(node)))) resolve();
    };
    const unlisten = record.onChange(checkHeld);
    checkHeld();
    const late = new AbortController();
    try {
      await Promise.race([promise, wait(WAIT_MS, undefined, { signal: late.signal }).then(() => fail(what))]);
    } finally {
      late.abort();
      unlisten();
    }
  }
  return {
    node,
    nodeKubeconfig: await controlPlane.kubeconfigFor({
      user: `system:node:${node}`,
      groups: ['system:nodes'],
      name: node,
    }),
    async makeSet(name, images) {
      const spec = { pinnedImages: images.map((image) => ({ name: image })) };
      await client.create(pinnedImageSets, { metadata: { name }, spec });
      return name;
    },
    async assign(names, parallel) {
      const sets = [];
      for (const name of names) {
        const { uid, generation = 0 } = (await client.get(pinnedImageSets, { name })).metadata;
        sets.push({ name, uid, generation });
      }
      const annotations = { [pinAssignmentAnnotation]: encodeAssignment({ sets, mayPull: true, parallel }) };
      await client.patch(
        machineConfigNodes,
        { name: node },
        { type: 'merge', body: { metadata: { annotations } } },
        {},
      );
      if (names.length === 0) await holds('the node holds no set', (held) => held.length === 0);
    },
    async forgetDaemon() {
      const body = { metadata: { annotations: { [nodeAnnotations.state]: null } } };
      await client.patch(nodes, { name: node }, { type: 'merge', body }, {});
    },
    daemonIsUp: () =>
      until('the daemon is up', async () => {
        const { annotations = {} } = (await client.get(nodes, { name: node })).metadata;
        return annotations[nodeAnnotations.state] === 'Done';
      }),
    isPinned: (set) => holds(`the node holds ${set}`, (held) => held.includes(set)),
    async stop() {
      following.abort();
      await client.transport.close();
      await controlPlane.stop();
    },
  };
}

/**
 * Machines start within ten seconds of one another, depending on their names. That must not be measured: this one has a
 * name that starts immediately.
 */
function promptName(): string {
  for (let number = 0; ; number += 1) {
    const name = `bench-${number}`;
    if (createHash('sha256').update(name).digest().readUInt32BE() < 2 ** 32 / 1000) return name;
  }
}

async function makeNode(client: Client, name: string): Promise<void> {
  const { spec } = buildConfig(CONFIG, []);
  await client.create(machineConfigs, { metadata: { name: CONFIG }, spec });
  const annotations = { [nodeAnnotations.desiredConfig]: CONFIG };
  const { metadata } = await client.create(nodes, { metadata: { name, annotations } });
  const ready = { type: 'Ready', status: 'True', reason: 'KubeletReady', message: '' };
  const body = { status: { conditions: [ready] } };
  await client.patch(nodes, { name }, { type: 'strategic', body }, {}, { subresource: 'status' });
  const owner = { apiVersion: 'v1', kind: 'Node', name, uid: metadata.uid };
  await client.create(machineConfigNodes, {
    metadata: { name, ownerReferences: [owner] },
    spec: { node: { name }, pool: { name: 'worker' }, configVersion: { desired: CONFIG } },
  });
}

/** The sets that the node reports as pinned in their current form. */
function heldSets(record: Pick<MachineConfigNode, 'status'> | undefined): string[] {
  const sets = record?.status?.pinnedImageSets ?? [];
  return sets.filter((set) => set.currentGeneration === set.desiredGeneration).map((set) => set.name);
}

async function until(what: string, check: () => Promise<boolean>): Promise<void> {
  const giveUpAt = performance.now() + WAIT_MS;
  while (!(await check())) {
    if (performance.now() > giveUpAt) fail(what);
    await wait(POLL_MS);
  }
}

function fail(what: string): never {
  throw new Error(`${what}: not after ${WAIT_MS / 60_000} minutes`);
}
