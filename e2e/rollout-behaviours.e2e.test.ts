import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import {
  machineConfigPools,
  machineConfigs,
  nodeAnnotations,
  ROLE_LABEL,
  rolloutPolicyAnnotations,
  targetConfigAnnotation,
} from '@slipway/api';
import type { MachineConfigPool } from '@slipway/api';
import { runInProcess } from '@slipway/slipway/testing/in-process';
import { ignitionConfig, machineConfig, specWithFile } from '@slipway/testing/builders';
import { drawSample } from '@slipway/testing/sample';
import { until, untilFound } from '@slipway/testing/wait';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { expectNoFightWithGitOps } from './rollout/gitops.ts';
import { expectPolicyActions, policyActions, policyKinds, prepareForPolicies } from './rollout/policies.ts';
import { countOut, desiredOf, type RolloutScene, startRolloutScene } from './rollout/rollout-scene.ts';

// What users of such fleets know, each under its name. The machines are simulated; the rest is real.
const WORKERS = 4;
const WORKER = 'node-role.kubernetes.io/worker';

let scene: RolloutScene;
let target = '';

const condition = (pool: MachineConfigPool, type: string) =>
  pool.status?.conditions?.find((each) => each.type === type);
const readBootId = async (name: string) => (await scene.node(name)).status?.nodeInfo?.bootID;
const workers = (): string[] => scene.machines.names().filter((name) => name.startsWith('worker-'));

/** Every worker has what the pool wants, and may be changed again. */
async function settled(config: string, machines = WORKERS): Promise<void> {
  target = config;
  await scene.updated('worker', config, machines);
}

/** A custom pool of machines that are workers too. */
async function addPool(name: string): Promise<void> {
  await scene.client.create(machineConfigPools, {
    metadata: { name },
    spec: {
      machineConfigSelector: { matchExpressions: [{ key: ROLE_LABEL, operator: 'In', values: ['worker', name] }] },
      nodeSelector: { matchLabels: { [`node-role.kubernetes.io/${name}`]: '' } },
    },
  });
}

beforeAll(async () => {
  scene = await startRolloutScene(
    { worker: WORKERS },
    {
      async wrapHost({ name }, host) {
        if (!name.startsWith('plain-')) return host;
        return { ...host, os: { ...host.os, facts: async () => ({ ...(await host.os.facts()), ability: 'none' }) } };
      },
    },
  );
  await settled((await scene.pool('worker')).spec.configuration?.name ?? '');
}, 120_000);
beforeEach(async () => scene.updated('worker', target, workers().length), 60_000);
afterAll(() => scene?.stop(), 60_000);

// First: the pool also has what later tests give the workers.
it('a setting that the OS of the machines cannot have', async () => {
  await scene.client.create(machineConfigs, machineConfig('60-plain', 'plain', specWithFile('/etc/plain', 'yes')));
  await addPool('plain');
  const { name: before } = (await scene.cluster.rendered('plain', ['60-plain'])).metadata;
  const machines = [await scene.machines.add('plain'), await scene.machines.add('plain')];
  await scene.updated('plain', before, 2);
  const disrupted = new Set<string>();
  const stopWatching = scene.nodes.onChange(() => {
    for (const { metadata, spec } of scene.nodes.store.values()) {
      const drain = metadata.annotations?.[nodeAnnotations.desiredDrain] ?? '';
      if (spec?.unschedulable === true || drain.startsWith('drain-')) disrupted.add(metadata.name);
    }
  });
  const spec = { config: ignitionConfig(), kernelArguments: ['quiet'] };
  const refusal = 'spec.kernelArguments: Simulated machine 9.6 has neither rpm-ostree nor bootc';

  const directory = await mkdtemp(join(tmpdir(), 'slipway-plain-'));
  const file = join(directory, 'arguments.json');
  const header = { apiVersion: 'machineconfiguration.openshift.io/v1', kind: 'MachineConfig' };
  await writeFile(file, JSON.stringify({ ...header, ...machineConfig('70-arguments', 'plain', spec) }));
  const planned = await runInProcess('plan', '-f', file, '--kubeconfig', scene.kubeconfig);
  await rm(directory, { recursive: true });
  expect(planned).toMatchObject({ code: 1, err: expect.stringContaining('machines plain-0, plain-1: ') });
  // The machine knows only its rendered config, the plan where the setting comes from.
  expect(planned.err).toContain(`MachineConfig 70-arguments, ${refusal}`);

  const impossible = await scene.apply('70-arguments', 'plain', spec);
  await until(async () => {
    const nodes = await Promise.all(machines.map((name) => scene.node(name)));
    expect(new Set(nodes.map(desiredOf))).toEqual(new Set([impossible, before]));
    const refused = nodes.find((node) => desiredOf(node) === impossible)?.metadata.annotations ?? {};
    expect(refused).toMatchObject({
      [nodeAnnotations.currentConfig]: before,
      [nodeAnnotations.state]: 'Degraded',
      [nodeAnnotations.reason]: expect.stringContaining(`MachineConfig ${impossible}, ${refusal}`),
    });
    const pool = await scene.pool('plain');
    expect(pool.status).toMatchObject({ degradedMachineCount: 1 });
    expect(condition(pool, 'Updating')?.message).toMatch(/halted/i);
  }, 'rollout');
  expect(await scene.remove('70-arguments', 'plain')).toBe(before);
  await scene.updated('plain', before, 2);
  expect([...disrupted]).toEqual([]);
  stopWatching();
  for (const name of machines) await scene.machines.remove(name);
  await scene.client.delete(machineConfigPools, { name: 'plain' }, {});
  await scene.client.delete(machineConfigs, { name: '60-plain' }, {});
}, 120_000);

it('kernel arguments', async () => {
  const boots = await Promise.all(workers().map(readBootId));
  const out = countOut(scene, WORKER);
  await settled(
    await scene.apply('50-arguments', 'worker', { config: ignitionConfig(), kernelArguments: ['quiet', 'a=b c'] }),
  );
  for (const name of workers()) {
    expect(await scene.file(name, 'var/lib/slipway-simulated/os.json')).toContain('"quiet"');
  }
  const after = await Promise.all(workers().map(readBootId));
  expect(after.filter((boot, at) => boot === boots[at])).toEqual([]);
  expect(out.most()).toBe(1);
  out.stop();
});

it('drift on an updated machine', async () => {
  const { onFailure } = rolloutPolicyAnnotations;
  await scene.patchPool('worker', {
    metadata: { annotations: { [onFailure]: 'return' } },
    spec: { maxUnavailable: 2 },
  });
  const config = await scene.apply('50-drift', 'worker', specWithFile('/etc/drifting', 'as configured'));
  const readState = async (name: string) => {
    const { annotations = {} } = (await scene.node(name)).metadata;
    return { config: annotations[nodeAnnotations.currentConfig], state: annotations[nodeAnnotations.state] };
  };
  const isUpdated = async (name: string) => isDeepStrictEqual(await readState(name), { config, state: 'Done' });
  const updated = await untilFound('an updated canary', async () => {
    const desired = await Promise.all(workers().map(async (name) => desiredOf(await scene.node(name))));
    // The second wave has started.
    if (desired.filter((each) => each === config).length < 2) return undefined;
    const [first] = workers();
    return first !== undefined && (await isUpdated(first)) ? first : undefined;
  });
  const file = join(scene.machines.rootOf(updated), 'etc/drifting');
  await writeFile(file, 'by hand');
  const others = workers().filter((name) => name !== updated);
  await until(async () => {
    for (const name of others) expect(await readState(name)).toEqual({ config, state: 'Done' });
    expect(await readState(updated)).toEqual({ config, state: 'Degraded' });
    const pool = await scene.pool('worker');
    expect(pool.metadata.annotations?.[targetConfigAnnotation]).toBeUndefined();
    expect(pool.status).toMatchObject({ degradedMachineCount: 1, unavailableMachineCount: 1 });
    expect(condition(pool, 'Updating')?.message).toContain(`drifted: ${updated}`);
    expect(condition(pool, 'NodeDegraded')).toMatchObject({
      status: 'True',
      message: expect.stringContaining('/etc/drifting'),
    });
  }, 'rollout');
  expect(await scene.run('why', updated)).toMatch(/drifted[^]*slipway\.dev\/drift-policy=heal/);
  await writeFile(file, 'as configured');
  await settled(config);
  await scene.patchPool('worker', { metadata: { annotations: { [onFailure]: null } }, spec: { maxUnavailable: null } });
}, 120_000);

it('a machine that boots into a config that was cancelled meanwhile', async () => {
  const before = target;
  for (const name of workers()) await scene.machines.setTrouble(name, 'stays down');
  const config = await scene.apply('50-called-back', 'worker', specWithFile('/etc/called-back', 'too late'));
  const name = await untilFound('a machine that is down', async () => {
    const found = await Promise.all(workers().map((each) => scene.node(each)));
    const down = found.find(({ metadata }) => metadata.annotations?.[nodeAnnotations.state] === 'Rebooting');
    return down?.metadata.name;
  });
  await scene.run('cancel', 'worker');
  await until(async () => expect(desiredOf(await scene.node(name))).toBe(before));
  for (const each of workers()) await scene.machines.setTrouble(each, null);
  await scene.updated('worker', before, WORKERS);
  expect(await scene.file(name, 'etc/called-back')).toBeUndefined();
  expect(before).not.toBe(config);
  await settled(await scene.remove('50-called-back', 'worker'));
}, 120_000);

it('a paused pool', async () => {
  const before = target;
  await scene.patchPool('worker', { spec: { paused: true } });
  const config = await scene.apply('50-paused', 'worker', specWithFile('/etc/paused', 'one'));
  await until(async () => {
    const pool = await scene.pool('worker');
    expect(condition(pool, 'Updating')).toMatchObject({ status: 'False', message: expect.stringMatching(/paused/i) });
    expect(condition(pool, 'Updated')).toMatchObject({ status: 'False' });
    expect(pool.status?.observedGeneration).toBe(pool.metadata.generation);
  }, 'rollout');
  for (const name of workers()) expect(desiredOf(await scene.node(name))).toBe(before);
  await scene.patchPool('worker', { spec: { paused: false } });
  await settled(config);
});

it('a custom pool created and deleted', async () => {
  const [name = ''] = workers();
  const role = 'node-role.kubernetes.io/gpu';
  await scene.client.create(machineConfigs, {
    metadata: { name: '60-gpu', labels: { [ROLE_LABEL]: 'gpu' } },
    spec: specWithFile('/etc/gpu', 'yes'),
  });
  await addPool('gpu');
  const { name: config } = (await scene.cluster.rendered('gpu', ['60-gpu'])).metadata;
  await scene.patchNode(name, { metadata: { labels: { [role]: '' } } });
  await scene.updated('gpu', config, 1);
  expect(await scene.file(name, 'etc/gpu')).toBe('yes');
  await scene.updated('worker', target, WORKERS - 1);

  await scene.client.delete(machineConfigPools, { name: 'gpu' }, {});
  await scene.updated('worker', target, WORKERS);
  expect(await scene.file(name, 'etc/gpu')).toBeUndefined();
  await scene.patchNode(name, { metadata: { labels: { [role]: null } } });
  await scene.client.delete(machineConfigs, { name: '60-gpu' }, {});
});

it('a bad MachineConfig recovers', async () => {
  const before = target;
  // A file below a file: found out on the machine, before it is drained.
  const bad = await scene.apply('50-bad', 'worker', specWithFile('/etc/hostname/below', 'no'));
  await until(async () => {
    const pool = await scene.pool('worker');
    expect(pool.status?.degradedMachineCount).toBe(1);
    expect(condition(pool, 'NodeDegraded')).toMatchObject({ status: 'True' });
    expect(condition(pool, 'Degraded')).toMatchObject({ status: 'True' });
  }, 'rollout');
  const given = await Promise.all(workers().map(async (name) => desiredOf(await scene.node(name))));
  expect(given.filter((config) => config === bad)).toHaveLength(1);
  expect(await scene.remove('50-bad', 'worker')).toBe(before);
  await settled(before);
  expect(condition(await scene.pool('worker'), 'Degraded')).toMatchObject({ status: 'False' });
});

it('a node cordoned by a person stays cordoned', async () => {
  const [, name = ''] = workers();
  await scene.patchPool('worker', { spec: { maxUnavailable: 2 } });
  await scene.patchNode(name, { spec: { unschedulable: true } });
  const before = target;
  const config = await scene.apply('50-cordoned', 'worker', specWithFile('/etc/cordoned', 'one'));
  await until(async () => {
    expect((await scene.pool('worker')).status).toMatchObject({ updatedMachineCount: WORKERS - 1 });
  }, 'rollout');
  const left = await scene.node(name);
  expect(left.spec?.unschedulable).toBe(true);
  expect(desiredOf(left)).toBe(before);
  expect(condition(await scene.pool('worker'), 'Updating')?.message).toContain(name);
  await scene.patchNode(name, { spec: { unschedulable: null } });
  await settled(config);
  await scene.patchPool('worker', { spec: { maxUnavailable: null } });
});

it('a deleted rendered config is made again', async () => {
  // Who may: one in use is protected from everybody else.
  await scene.cluster.client.delete(machineConfigs, { name: target }, {});
  const again = await until(() => scene.client.get(machineConfigs, { name: target }), 'rollout');
  expect(again.spec?.config).toBeDefined();
  await settled(await scene.apply('50-again', 'worker', specWithFile('/etc/again', 'one')));
});

it('a node moved between pools', async () => {
  const [, , name = ''] = workers();
  const role = 'node-role.kubernetes.io/store';
  await scene.client.create(machineConfigs, {
    metadata: { name: '60-store', labels: { [ROLE_LABEL]: 'store' } },
    spec: specWithFile('/etc/store', 'yes'),
  });
  await addPool('store');
  const { name: config } = (await scene.cluster.rendered('store', ['60-store'])).metadata;
  const boot = await readBootId(name);
  await scene.patchNode(name, { metadata: { labels: { [role]: '' } } });
  await scene.updated('store', config, 1);
  expect(await readBootId(name)).not.toBe(boot);
  await scene.patchNode(name, { metadata: { labels: { [role]: null } } });
  await scene.updated('worker', target, WORKERS);
  await scene.updated('store', config, 0);
  expect(await scene.file(name, 'etc/store')).toBeUndefined();
});

it('a node that joins during a rollout', async () => {
  const before = target;
  const config = await scene.apply('50-joins', 'worker', specWithFile('/etc/joins', 'one'));
  const name = await scene.machines.add('worker');
  await settled(config, WORKERS + 1);
  expect(await scene.file(name, 'etc/joins')).toBe('one');
  expect(before).not.toBe(config);
  await scene.machines.remove(name);
  await settled(config);
});

it('maxUnavailable changed in flight', async () => {
  const out = countOut(scene, WORKER);
  const begun = await scene.apply('50-flight', 'worker', specWithFile('/etc/flight', 'one'));
  await until(async () => {
    const given = await Promise.all(workers().map(async (name) => desiredOf(await scene.node(name))));
    expect(given).toContain(begun);
  }, 'rollout');
  expect(out.most()).toBeLessThanOrEqual(1);
  await scene.patchPool('worker', { spec: { maxUnavailable: '50%' } });
  await settled(begun);
  expect(out.most()).toBe(2);
  await scene.patchPool('worker', { spec: { maxUnavailable: 1 } });
  out.stop();
  const after = countOut(scene, WORKER);
  await settled(await scene.apply('50-flight', 'worker', specWithFile('/etc/flight', 'two')));
  expect(after.most()).toBe(1);
  after.stop();
});

it('a GitOps tool that applies the pool and its MachineConfig all the time', async () => {
  await settled(await expectNoFightWithGitOps(scene, { intervalMs: 200, workers: workers(), soak: '0s' }));
  const { soak, waves } = rolloutPolicyAnnotations;
  await scene.patchPool('worker', { metadata: { annotations: { [soak]: null, [waves]: null } } });
}, 120_000);

describe('node disruption policy', () => {
  beforeAll(async () => {
    // Two are enough here, both at once.
    for (const name of workers().slice(2)) await scene.machines.remove(name);
    await settled(await prepareForPolicies(scene), 2);
  }, 60_000);

  // All kinds with all actions are in rollout-policies.slow.test.ts.
  it.each(policyActions)('$type, for one of files, directories, units and ssh keys', async (action) => {
    const [kind] = drawSample(`policy ${action.type}`, policyKinds, 1 / policyKinds.length);
    if (kind === undefined) throw new Error('no kind was drawn');
    target = await expectPolicyActions(scene, kind, action);
  });
});
