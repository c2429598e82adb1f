// `slipway plan` on a real control plane with real controllers and daemons: it writes nothing, and its plan comes true.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type MachineConfig,
  machineConfigPools,
  machineConfigs,
  type Node,
  nodeAnnotations,
  nodes,
  type Pod,
  pods,
  ROLE_LABEL,
} from '@slipway/api';
import { createInformer } from '@slipway/kube';
import { createSimulatedHost } from '@slipway/simulator';
import { runInProcess } from '@slipway/slipway/testing/in-process';
import { readSettledAuditLog } from '@slipway/testing/audit';
import { specWithFiles } from '@slipway/testing/builders';
import { operator } from '@slipway/testing/control-plane';
import { type FakeServer, startFakeServer } from '@slipway/testing/fake-http-server';
import { runSlipway, startSlipway, type RunningProcess } from '@slipway/testing/slipway-process';
import {
  addBudget,
  addNamespace,
  addPod,
  allowDisruptions,
  endPod,
  reportReady,
} from '@slipway/testing/stand-in-kubelet';
import { until } from '@slipway/testing/wait';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DaemonCluster, type SimulatedNode, startDaemonCluster } from './daemon/cluster.ts';
import { addPlanner, planner } from './plan/planner.ts';

const { desiredConfig, desiredDrain } = nodeAnnotations;
const NAMES = ['worker-1', 'worker-2', 'worker-3'];
const APP = '/etc/app.conf';
/** Needs no action according to the built-in policy. */
const PULL_SECRET = '/var/lib/kubelet/config.json';
/** May write everything. */
const administrator = { user: 'planning-administrator', groups: ['system:masters'], name: 'planning-administrator' };
const budget = { namespace: 'shop', name: 'web' };

const app = (text: string): MachineConfig => ({
  metadata: { name: '50-app', labels: { [ROLE_LABEL]: 'worker' } },
  spec: specWithFiles({ [APP]: text }),
});
const pullSecret: MachineConfig = {
  metadata: { name: '60-pull', labels: { [ROLE_LABEL]: 'worker' } },
  spec: specWithFiles({ [PULL_SECRET]: '{"auths":{}}' }),
};

/** The fields of a plan that these tests check. */
interface Plan {
  outcome: string;
  pools: {
    name: string;
    after: string;
    changes: { name: string; from: string[] }[];
    rollout: { waves: { nodes: string[]; atATime: number }[] };
    updates: { actions: { type: string }[]; needsDrain: boolean; nodes: string[] }[];
    nodes: { name: string; drain: { evicted: string[]; blockedBy: { budget: string; allowed: number }[] } | null }[];
  }[];
}

describe('slipway plan', () => {
  let cluster: DaemonCluster;
  let controller: RunningProcess;
  let directory: string;
  let kubeconfig: string;
  /** Kubeconfig of the administrator. */
  let unlimited: string;
  let web: FakeServer;
  let machines: SimulatedNode[];
  const stopWatching = new AbortController();
  /** Nodes in the order in which they were assigned another config. */
  const given: string[] = [];
  const wasDrained = new Set<string>();

  beforeAll(async () => {
    cluster = await startDaemonCluster();
    directory = await mkdtemp(join(tmpdir(), 'slipway-plan-'));
    kubeconfig = await addPlanner(cluster.operator, cluster.controlPlane);
    unlimited = await cluster.controlPlane.kubeconfigFor(administrator);
    web = await startFakeServer();
    await cluster.operator.create(machineConfigs, app('one\n'));
    const operatorKubeconfig = await cluster.controlPlane.kubeconfigFor(operator);
    const flags = ['--no-leader-elect', '--probes', '127.0.0.1:0', '--allow-address', '127.0.0.0/8'];
    controller = startSlipway('controller', '--kubeconfig', operatorKubeconfig, ...flags);
    const first = await renderedFrom(['00-worker', '50-app']);
    await setMaxUnavailable(NAMES.length);
    // These machines start without files, and first get the config of the pool.
    const born = await cluster.render({ config: { ignition: { version: '3.5.0' } } });
    machines = [];
    for (const name of NAMES) {
      const machine = await cluster.makeNode(name, born);
      await reportReady(cluster.operator, name);
      machine.start();
      machines.push(machine);
    }
    await allHave(first);
    await setMaxUnavailable(1);
    await addPods();
    await watchCluster();
  }, 180_000);

  afterAll(async () => {
    stopWatching.abort();
    await controller.stop();
    await web.stop();
    await cluster.stop();
    await rm(directory, { recursive: true });
  }, 60_000);

  async function renderedFrom(sources: readonly string[], pool = 'worker'): Promise<string> {
    return until(async () => {
      const { configuration } = (await cluster.operator.get(machineConfigPools, { name: pool })).spec;
      expect(configuration?.source?.map(({ name }) => name)).toEqual(sources);
      return configuration?.name ?? '';
    });
  }

  const setMaxUnavailable = (maxUnavailable: number) =>
    cluster.operator.patch(
      machineConfigPools,
      { name: 'worker' },
      { type: 'merge', body: { spec: { maxUnavailable } } },
      {},
    );

  async function allHave(config: string): Promise<void> {
    await until(async () => {
      const { status } = await cluster.operator.get(machineConfigPools, { name: 'worker' });
      expect(status).toMatchObject({ configuration: { name: config }, updatedMachineCount: NAMES.length });
    }, 'rollout');
  }

  /** Two pods that are evicted, one of them blocked by a budget, and one of a DaemonSet, which stays. */
  async function addPods(): Promise<void> {
    const client = cluster.operator;
    await addNamespace(client, 'shop');
    await addPod(client, { namespace: 'shop', name: 'free' }, 'worker-1', { metadata: { labels: { app: 'other' } } });
    await addPod(client, { namespace: 'shop', name: 'kept' }, 'worker-2', { metadata: { labels: { app: 'web' } } });
    await client.create(pods, {
      metadata: {
        namespace: 'shop',
        name: 'everywhere',
        ownerReferences: [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'd', uid: 'd', controller: true }],
      },
      spec: { nodeName: 'worker-1', containers: [{ name: 'd', image: 'registry.example.com/d' }] },
    });
    await addBudget(client, budget, { app: 'web' }, 0);
  }

  /** Records what happens to nodes, and ends pods like a kubelet. */
  async function watchCluster(): Promise<void> {
    const { transport } = cluster.operator;
    const watchedNodes = createInformer<Node>(transport, { resource: nodes });
    watchedNodes.onChange((change) => {
      if (change.type !== 'updated') return;
      const { name, annotations = {} } = change.object.metadata;
      if (annotations[desiredConfig] !== change.old.metadata.annotations?.[desiredConfig]) given.push(name);
      if (annotations[desiredDrain]?.startsWith('drain-') === true) wasDrained.add(name);
    });
    const watchedPods = createInformer<Pod>(transport, { resource: pods });
    watchedPods.onChange((change) => {
      if (change.type === 'deleted' || change.object.metadata.deletionTimestamp === undefined) return;
      const { namespace = '', name } = change.object.metadata;
      endPod(cluster.operator, { namespace, name }).catch(() => {});
    });
    for (const informer of [watchedNodes, watchedPods]) {
      informer.start(stopWatching.signal);
      await informer.synced;
    }
  }

  async function plan(object: MachineConfig, { as = kubeconfig, pool = 'worker', flags = [] as string[] } = {}) {
    const path = join(directory, `${object.metadata.name}.json`);
    const header = { apiVersion: 'machineconfiguration.openshift.io/v1', kind: 'MachineConfig' };
    await writeFile(path, JSON.stringify({ ...header, ...object }));
    const { code, out, err } = await runInProcess('plan', '-f', path, '-o', 'json', '--kubeconfig', as, ...flags);
    expect(err).not.toContain('SLW_');
    const found = (JSON.parse(out) as Plan).pools.find(({ name }) => name === pool);
    if (found === undefined) throw new Error(`the plan lacks the pool ${pool}`);
    return { code, err, path, pool: found };
  }

  const apply = (object: MachineConfig) =>
    cluster.operator.apply(machineConfigs, object, {}, { fieldManager: 'test', force: true });
  const bootIds = () => Promise.all(machines.map(({ root }) => createSimulatedHost({ root }).bootId()));

  it('exits 0 for manifests that change nothing', async () => {
    expect(await plan(app('one\n'))).toMatchObject({ code: 0, pool: { changes: [], updates: [] } });
  });

  it('predicts a rollout: target, waves and their order, actions, evicted pods, and the blocking budget', async () => {
    const { code, pool: worker, path } = await plan(app('two\n'));
    expect(code).toBe(3);
    expect(worker.changes).toMatchObject([{ name: APP, from: ['50-app'] }]);
    expect(worker.updates).toMatchObject([{ actions: [{ type: 'Reboot' }], needsDrain: true, nodes: NAMES }]);
    const waves = worker.rollout.waves.map((wave) => wave.nodes);
    expect(waves.map((wave) => wave.length)).toEqual([1, 2]);
    const evicted = worker.nodes.flatMap(({ drain }) => drain?.evicted ?? []);
    const blocked = worker.nodes.filter(({ drain }) => (drain?.blockedBy ?? []).length > 0);
    expect(blocked).toMatchObject([{ name: 'worker-2', drain: { blockedBy: [{ budget: 'shop/web', allowed: 0 }] } }]);
    const text = await runSlipway('plan', '-f', path, '-v', '--kubeconfig', unlimited);
    expect(text).toMatchObject({ code: 3 });
    expect(text.out).toContain('PodDisruptionBudget shop/web allows no evictions now');

    const boots = await bootIds();
    await apply(app('two\n'));
    await until(async () => {
      const { annotations } = (await cluster.operator.get(nodes, { name: 'worker-2' })).metadata;
      expect(annotations?.['slipway.dev/drain-blocked']).toMatch(/shop\/kept.*\bweb\b/s);
    }, 'rollout');
    await allowDisruptions(cluster.operator, budget, 1);
    await allHave(worker.after);

    expect(given).toEqual(waves.flat());
    expect(wasDrained).toEqual(new Set(NAMES));
    const after = await bootIds();
    expect(after.filter((id, index) => id === boots[index])).toEqual([]);
    const requests = await readSettledAuditLog(cluster.controlPlane.auditLog, operator.user);
    const evictions = requests.filter(({ resource, code }) => resource === 'pods/eviction' && code === 201);
    expect(evictions.map(({ name }) => name).sort()).toEqual(evicted.sort());
    expect(evicted).toEqual(['shop/free', 'shop/kept']);
    expect(await cluster.operator.find(pods, { namespace: 'shop', name: 'everywhere' })).toBeDefined();
  }, 240_000);

  it('predicts a change without any action', async () => {
    const { code, pool: worker } = await plan(pullSecret);
    expect({ code, drains: worker.nodes.filter(({ drain }) => drain !== null) }).toEqual({ code: 2, drains: [] });
    expect(worker.updates).toMatchObject([{ actions: [], needsDrain: false }]);
    const boots = await bootIds();
    given.length = 0;
    wasDrained.clear();
    await apply(pullSecret);
    await allHave(worker.after);
    expect(given).toEqual(worker.rollout.waves.flatMap((wave) => wave.nodes));
    expect([...wasDrained]).toEqual([]);
    expect(await bootIds()).toEqual(boots);
  }, 120_000);

  it('uses stored remote content, and fetches only what is new', async () => {
    const remote = (path: string): MachineConfig => ({
      metadata: { name: '50-remote', labels: { [ROLE_LABEL]: 'master' } },
      spec: {
        config: {
          ignition: { version: '3.5.0' },
          storage: { files: [{ path, mode: 0o644, contents: { source: `${web.url}/file` } }] },
        },
      },
    });
    const as = { as: unlimited, pool: 'master', flags: ['--allow-address', '127.0.0.0/8'] };
    web.serve('/file', 'one');
    await apply(remote('/etc/a'));
    await renderedFrom(['00-master', '50-remote'], 'master');
    // The cluster must not use this newer content.
    web.serve('/file', 'two');
    const before = web.requests.length;
    expect(await plan(remote('/etc/a'), as)).toMatchObject({ code: 0, pool: { changes: [] } });
    expect(web.requests.length).toBe(before);
    const { code, err, pool } = await plan(remote('/etc/b'), as);
    expect({ code, requests: web.requests.length }).toEqual({ code: 3, requests: before + 1 });
    expect(err).toContain('remote content of MachineConfig 50-remote');
    await apply(remote('/etc/b'));
    await until(async () => {
      const { spec } = await cluster.operator.get(machineConfigPools, { name: 'master' });
      expect(spec.configuration?.name).toBe(pool.after);
    });
  }, 120_000);

  it.each([planner, administrator])('writes nothing, and tries nothing that $user may not do', async ({ user }) => {
    const requests = await readSettledAuditLog(cluster.controlPlane.auditLog, user);
    expect(new Set(requests.map(({ verb }) => verb))).toEqual(new Set(['get', 'list']));
    expect(requests.filter(({ code }) => code === 403)).toEqual([]);
  });
});
