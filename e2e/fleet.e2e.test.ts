// A simulated fleet against everything real: control plane, controllers, machine config server.
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  machineConfigPools,
  machineConfigs,
  type Node,
  nodeAnnotations,
  nodes,
  type Pod,
  podDisruptionBudgets,
  pods,
} from '@slipway/api';
import { createFetcher } from '@slipway/controllers';
import { type Client, createClient, impersonating, silentLog } from '@slipway/kube';
import { type SimulatedFleet, startFleet } from '@slipway/simulator';
import { customPool, machineConfig, specWithFiles } from '@slipway/testing/builders';
import { connect } from '@slipway/testing/control-plane';
import { serviceAccounts } from '@slipway/testing/resources';
import { startSlipway, type RunningProcess } from '@slipway/testing/slipway-process';
import { until } from '@slipway/testing/wait';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const MACHINES = { master: 3, worker: 15, infra: 2 };

let dataDir: string;
let running: RunningProcess;
let admin: Client;
let fleet: SimulatedFleet;

async function start(): Promise<{ fleet: SimulatedFleet; born: number }> {
  let born = 0;
  const started = await startFleet({
    transport: admin.transport,
    directory: join(dataDir, 'fleet'),
    shares: Object.entries(MACHINES).map(([pool, machines]) => ({ pool, machines })),
    log: silentLog(),
    fetch: createFetcher({ attempts: 60, backoffMs: 250 }),
    programVersion: 'test',
    bootMs: 200,
    onBirth: () => (born += 1),
  });
  return { fleet: started, born };
}

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'slipway-fleet-'));
  running = startSlipway('start', '--data-dir', dataDir, '--nodes', '0');
  await running.saw(/Ctrl-C stops everything/);
  admin = await connect(join(dataDir, 'admin.kubeconfig'));
  await admin.create(machineConfigPools, customPool('infra'));
}, 120_000);

afterAll(async () => {
  await fleet?.stop();
  await admin?.transport.close();
  await running.stop('SIGINT');
  await rm(dataDir, { recursive: true });
}, 60_000);

const as = (node: string): Client =>
  createClient(impersonating(admin.transport, { user: `system:node:${node}`, groups: ['system:nodes'] }));
const annotate = (client: Client, name: string, annotations: Record<string, string>): Promise<unknown> =>
  client.patch(nodes, { name }, { type: 'merge', body: { metadata: { annotations } } }, {});
const isReady = ({ status }: Node): boolean =>
  status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true;

/** Every machine of the role gets this text, at a path that no policy has a word on: so with drain and reboot. */
const slug = (text: string): string => text.replaceAll(' ', '-');
const change = (role: string, text: string): Promise<unknown> => {
  const spec = specWithFiles({ [`/etc/motd.d/${slug(text)}`]: text });
  return admin.create(machineConfigs, machineConfig(`99-${role}-${slug(text)}`, role, spec));
};
const has = async (name: string, text: string): Promise<boolean> =>
  (await readFile(join(fleet.rootOf(name), 'etc/motd.d', slug(text)), 'utf8').catch(() => '')) === text;
const readBootId = async (name: string) => (await admin.get(nodes, { name })).status?.nodeInfo?.bootID;

/** Every node is Ready and says that it has the config of its pool, which is none of these. */
async function allDone(...before: readonly (string | undefined)[]): Promise<Node[]> {
  return until(async () => {
    const found = await Array.fromAsync(admin.list(nodes));
    expect(found).toHaveLength(20);
    for (const node of found) {
      const pool = node.metadata.name.replace(/-\d+$/, '');
      const { spec } = await admin.get(machineConfigPools, { name: pool });
      expect(before).not.toContain(spec.configuration?.name);
      expect(node.metadata.annotations).toMatchObject({
        [nodeAnnotations.state]: 'Done',
        [nodeAnnotations.currentConfig]: spec.configuration?.name,
      });
      expect(isReady(node)).toBe(true);
    }
    return found;
  }, 'rollout');
}

describe('a simulated fleet', () => {
  it('is born through the server, 20 machines of three pools, each at the config of its pool', async () => {
    const begun = performance.now();
    const started = await start();
    ({ fleet } = started);
    console.log(`20 machines born in ${((performance.now() - begun) / 1000).toFixed(1)} s`);
    expect(started.born).toBe(20);
    expect(fleet.names()).toHaveLength(20);
    await allDone();
  });

  it('is the same after a stop and a start: no machine is born twice', async () => {
    const identity = async () => {
      const inodes = fleet.names().map(async (name) => (await stat(fleet.rootOf(name))).ino);
      return {
        inodes: await Promise.all(inodes),
        boots: (await allDone()).map((node) => node.status?.nodeInfo?.bootID),
      };
    };
    const before = await identity();
    await fleet.stop();
    const started = await start();
    ({ fleet } = started);
    expect(started.born).toBe(0);
    expect(await identity()).toEqual(before);
  });

  it('has a machine more and a machine less when asked to, with its Node', async () => {
    const name = await fleet.add('worker');
    expect(name).toBe('worker-15');
    await until(async () => {
      const node = await admin.get(nodes, { name });
      expect(node.metadata.annotations).toMatchObject({ [nodeAnnotations.state]: 'Done' });
    }, 'rollout');
    await fleet.remove(name);
    expect(await admin.find(nodes, { name })).toBeUndefined();
    expect(fleet.names()).toHaveLength(20);
  });
});

describe('a simulated machine', () => {
  it.each([
    ['the Node of another machine', 'worker-1', { [nodeAnnotations.state]: 'Done' }],
    ['the state of another machine', 'worker-1', { [nodeAnnotations.state]: 'Degraded' }],
    ['what it is to have itself', 'worker-0', { [nodeAnnotations.desiredConfig]: 'rendered-master-0' }],
  ])('may not write %s', async (_, name, annotations) => {
    await expect(annotate(as('worker-0'), name, annotations)).rejects.toThrow(/not allowed|may not write/);
  });

  it('may write what it reports with', async () => {
    await expect(annotate(as('worker-0'), 'worker-0', { [nodeAnnotations.reason]: '' })).resolves.toBeDefined();
  });
});

describe('a change', () => {
  const renderedFor = async (pool: string) =>
    (await admin.get(machineConfigPools, { name: pool })).spec.configuration?.name;

  it('rolls over the fleet: every machine of its role has it and has booted, and the masters have not', async () => {
    await admin.patch(
      machineConfigPools,
      { name: 'worker' },
      { type: 'merge', body: { spec: { maxUnavailable: 8 } } },
      {},
    );
    const names = ['worker-7', 'infra-1', 'master-0'];
    const boots = await Promise.all(names.map(readBootId));
    const before = [await renderedFor('worker'), await renderedFor('infra')];
    await change('worker', 'for all');
    await allDone(...before);
    for (const name of fleet.names().filter((each) => !each.startsWith('master'))) {
      expect(await has(name, 'for all')).toBe(true);
    }
    const [worker, infra, master] = await Promise.all(names.map(readBootId));
    expect(worker).not.toBe(boots[0]);
    expect(infra).not.toBe(boots[1]);
    expect(master).toBe(boots[2]);
  }, 120_000);

  it.each(['stays down', 'boots for ever', 'hangs'] as const)(
    'does not go on from a machine that %s, and does once that is over',
    async (trouble) => {
      const before = await renderedFor('infra');
      await fleet.setTrouble('infra-0', trouble);
      await change('infra', `while infra-0 ${trouble}`);
      const target = await until(async () => {
        const { annotations = {} } = (await admin.get(nodes, { name: 'infra-0' })).metadata;
        expect(annotations[nodeAnnotations.desiredConfig]).not.toBe(before);
        return annotations[nodeAnnotations.desiredConfig];
      }, 'rollout');
      await until(async () => {
        const first = await admin.get(nodes, { name: 'infra-0' });
        expect(isReady(first)).toBe(trouble === 'hangs');
        expect(first.metadata.annotations?.[nodeAnnotations.currentConfig]).toBe(before);
      }, 'rollout');
      const second = await admin.get(nodes, { name: 'infra-1' });
      expect(second.metadata.annotations?.[nodeAnnotations.desiredConfig]).not.toBe(target);
      await fleet.setTrouble('infra-0', null);
      await allDone(before);
      expect(await has('infra-1', `while infra-0 ${trouble}`)).toBe(true);
    },
    120_000,
  );
});

describe('a pod on a simulated machine', () => {
  const pod = (name: string, nodeName: string): Pod => ({
    metadata: { name, namespace: 'default', labels: { app: 'shop' } },
    spec: { nodeName, containers: [{ name: 'shop', image: 'registry.example.com/shop' }] },
  });
  const readPhase = async (name: string) => (await admin.find(pods, { name, namespace: 'default' }))?.status?.phase;

  it('runs, is held by its budget, and is gone once it may be evicted', async () => {
    await admin.create(serviceAccounts, { metadata: { name: 'default', namespace: 'default' } });
    await admin.create(podDisruptionBudgets, {
      metadata: { name: 'shop', namespace: 'default' },
      spec: { minAvailable: 1, selector: { matchLabels: { app: 'shop' } } },
    });
    await admin.create(pods, pod('one', 'worker-2'));
    await until(async () => expect(await readPhase('one')).toBe('Running'), 'rollout');
    await expect(admin.evict({ name: 'one', namespace: 'default' }, {})).rejects.toMatchObject({
      code: 'SLW_KUBE_BLOCKED',
    });
    await admin.create(pods, pod('two', 'worker-3'));
    await until(() => admin.evict({ name: 'one', namespace: 'default' }, {}), 'rollout');
    await until(async () => expect(await readPhase('one')).toBeUndefined(), 'rollout');
    expect(await readPhase('two')).toBe('Running');
  });
});
