import {
  daemonAnnotations,
  DEFAULT_NAMESPACE,
  machineConfigNodes,
  machineConfigPools,
  machineConfigs,
  machineConfigurations,
  nodeAnnotations,
  nodes,
  secrets,
} from '@slipway/api';
import { isKubeError } from '@slipway/kube';
import { node } from '@slipway/testing/builders';
import { events } from '@slipway/testing/resources';
import { until } from '@slipway/testing/wait';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  annotate,
  type Door,
  eventIn,
  merge,
  ofDaemon,
  ofKubelet,
  onOthers,
  buildRecord,
  rendered,
  setLabel,
  setStatus,
  watch,
} from './node-access/attempts.ts';
import { type Machines, startMachines } from './node-access/machines.ts';

let machines: Machines;

beforeAll(async () => {
  machines = await startMachines(['a', 'b']);
  const { admin, operator, mightyDaemon } = machines;
  await operator.create(machineConfigs, { metadata: { name: rendered } });
  await operator.create(machineConfigPools, {
    metadata: { name: 'worker' },
    spec: { nodeSelector: { matchLabels: { 'node-role.kubernetes.io/worker': '' } } },
  });
  await admin.create(secrets, { metadata: { name: 'pull-secret', namespace: DEFAULT_NAMESPACE } });
  await annotate(operator, 'a', { [nodeAnnotations.desiredConfig]: rendered });
  // A policy is in force some moments after it is there.
  await until(() => expectRefused(setLabel(machines.daemonOf('a'), 'a'), 'node-guards'));
  await until(() => expectRefused(setStatus(machines.daemonOf('a'), 'b'), 'mcn-guards'));
  const mine = { metadata: { name: 'rendered-x' } };
  await until(() =>
    expectRefused(mightyDaemon.create(machineConfigs, mine, { dryRun: true }), 'rendered-machine-config-guards'),
  );
}, 60_000);

afterAll(async () => machines?.stop());

const refusalPatterns: Partial<Record<Door, RegExp>> = {
  permissions: /User .* cannot /,
  NodeRestriction: /is not allowed to/,
};

/** By this one, or by any. */
async function expectRefused(request: Promise<unknown>, door?: Door): Promise<void> {
  const answer: unknown = await request.then(
    () => 'it passed',
    (error: unknown) => error,
  );
  expect(String(answer)).toMatch(
    door === undefined ? /forbidden/ : (refusalPatterns[door] ?? `ValidatingAdmissionPolicy '${door}'`),
  );
  expect(isKubeError(answer, 'SLW_KUBE_FORBIDDEN')).toBe(true);
}

const getNode = (name: string) => machines.admin.get(nodes, { name });
const getRecord = (name: string) => machines.admin.get(machineConfigNodes, { name });

describe.each([
  { who: 'the daemon of a node', client: () => machines.daemonOf('a'), attempts: ofDaemon },
  { who: 'a kubelet', client: () => machines.kubeletOf('a'), attempts: ofKubelet },
])('$who cannot', ({ client, attempts }) => {
  it.each(attempts)('$what: $door', async ({ attempt, door }) => {
    await expectRefused(attempt(client()), door);
  });
});

describe('a refusal says what was found and what holds', () => {
  it.each<[string, () => Promise<unknown>, string]>([
    [
      'an annotation of the controllers',
      () => annotate(machines.kubeletOf('a'), 'a', { [nodeAnnotations.desiredConfig]: 'x' }),
      `a machine may not write ${nodeAnnotations.desiredConfig} on Node a. On its own Node it may write the annotations currentConfig, state, reason, desiredDrain, post-config-action, reported-config, os-ability; the others are reserved for the controllers`,
    ],
    [
      'the Node of another',
      () => setLabel(machines.daemonOf('b'), 'a'),
      'a daemon may only write the Node that it runs on: found a token of node b in a request for Node a',
    ],
    [
      'a token of no node',
      () => setLabel(machines.unboundDaemon, 'a'),
      'found a token without a node in a request for Node a',
    ],
    [
      'the record of another',
      () => setStatus(machines.daemonOf('b'), 'a'),
      'only the daemon of the node may write the status of MachineConfigNode a: found system:serviceaccount:openshift-machine-config-operator:machine-config-daemon on node b',
    ],
  ])('%s', async (_, attempt, message) => {
    await expect(attempt()).rejects.toThrow(message);
  });
});

describe.each([
  { who: 'the daemon of another node', client: () => machines.daemonOf('b') },
  { who: 'the kubelet of another node', client: () => machines.kubeletOf('b') },
  { who: 'a daemon’s token without a node', client: () => machines.unboundDaemon },
])('$who cannot', ({ client }) => {
  it.each(onOthers)('$what', async ({ attempt }) => {
    await expectRefused(attempt(client()));
  });
});

it('and after all that the node and its record are as they were', async () => {
  const { metadata, spec } = await getNode('a');
  expect(metadata.annotations).toEqual({ [nodeAnnotations.desiredConfig]: rendered });
  expect(metadata.labels).toEqual({ 'node-role.kubernetes.io/worker': '' });
  expect(spec?.unschedulable).toBeUndefined();
  expect(await getRecord('a')).toMatchObject(buildRecord('a'));
  expect((await getRecord('a')).status).toBeUndefined();
});

describe.each([
  { who: 'the daemon of a node', client: () => machines.daemonOf('a'), value: 'x' },
  { who: 'a kubelet, for the daemon that has its certificate', client: () => machines.kubeletOf('a'), value: 'y' },
])('$who', ({ client, value }) => {
  it.each(daemonAnnotations)('writes and removes %s of its own Node', async (name) => {
    await annotate(client(), 'a', { [name]: value });
    expect((await getNode('a')).metadata.annotations).toMatchObject({ [name]: value });
    await annotate(client(), 'a', { [name]: null });
    expect((await getNode('a')).metadata.annotations).not.toHaveProperty([name]);
  });

  it('writes the status of its own MachineConfigNode', async () => {
    await setStatus(client(), 'a');
    expect((await getRecord('a')).status?.conditions).toHaveLength(1);
    await machines.operator.patch(
      machineConfigNodes,
      { name: 'a' },
      { type: 'merge', body: { status: null } },
      {},
      { subresource: 'status' },
    );
  });

  // A server that has just got a kind answers 429 to a watch of it for a moment: its storage is being made ready.
  const soon = (act: () => Promise<unknown>) => until(act);

  it('reads its Node, its record, the config it is told the name of, and the settings', async () => {
    await expect(client().get(nodes, { name: 'a' })).resolves.toBeDefined();
    await expect(client().get(machineConfigNodes, { name: 'a' })).resolves.toBeDefined();
    await expect(client().get(machineConfigs, { name: rendered })).resolves.toBeDefined();
    // It does not exist here, which is not the same as refused.
    await expect(client().find(machineConfigurations, { name: 'cluster' })).resolves.toBeUndefined();
    await soon(() => watch(client(), '/apis/machineconfiguration.openshift.io/v1/machineconfignodes'));
  });

  it('writes events about its Node', async () => {
    const event = eventIn('default');
    await client().create(events, event);
    const again = { type: 'merge', body: { message: 'again' } } as const;
    await expect(client().patch(events, event.metadata, again, {})).resolves.toMatchObject({ message: 'again' });
    await machines.admin.delete(events, event.metadata, {});
  });
});

describe('a kubelet at its own work is not in our way', () => {
  const heartbeat = { type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'kubelet is posting ready' };

  it('with its heartbeat, its labels and the annotations of others, however many a Node has', async () => {
    const many = Object.fromEntries(
      Array.from({ length: 3000 }, (_, number) => [`example.com/annotation-${number}`, 'x'.repeat(40)]),
    );
    await annotate(machines.admin, 'b', many);
    const kubelet = machines.kubeletOf('b');
    await merge(kubelet, nodes, 'b', { status: { conditions: [heartbeat] } }, 'status');
    await annotate(kubelet, 'b', { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' }, 'status');
    await setLabel(kubelet, 'b', 'example.com/zone');
    await annotate(machines.daemonOf('b'), 'b', { [nodeAnnotations.state]: 'Done' });
    expect(await getNode('b')).toMatchObject({ status: { conditions: [{ type: 'Ready' }] } });
  });

  it('and it joins as before, but not with a desired config of its own choice', async () => {
    const kubelet = machines.joining;
    const aimed = { [nodeAnnotations.desiredConfig]: rendered };
    await expectRefused(kubelet.create(nodes, { metadata: { name: 'c', annotations: aimed } }), 'node-guards');
    await kubelet.create(nodes, {
      metadata: { name: 'c', annotations: { [nodeAnnotations.currentConfig]: rendered } },
    });
    await machines.admin.delete(nodes, { name: 'c' }, {});
  });
});

describe('whatever its permissions, a daemon is none of our controllers', () => {
  it.each<{ what: string; door: Door; attempt: () => Promise<unknown> }>([
    {
      what: 'make a rendered MachineConfig',
      door: 'rendered-machine-config-guards',
      attempt: () => machines.mightyDaemon.create(machineConfigs, { metadata: { name: 'rendered-x' } }),
    },
    {
      what: 'make a built-in MachineConfig',
      door: 'built-in-machine-config-guards',
      attempt: () =>
        machines.mightyDaemon.create(machineConfigs, {
          metadata: { name: '00-x', labels: { 'machineconfiguration.openshift.io/mco-built-in': '' } },
        }),
    },
    {
      what: 'make a second MachineConfiguration',
      door: 'machine-configuration-guards',
      attempt: () => machines.mightyDaemon.create(machineConfigurations, { metadata: { name: 'mine' }, spec: {} }),
    },
    {
      what: 'make a MachineConfigNode',
      door: 'mcn-guards',
      attempt: () => machines.mightyDaemon.create(machineConfigNodes, buildRecord('c')),
    },
    {
      what: 'change the spec of a MachineConfigNode',
      door: 'mcn-guards',
      attempt: () => merge(machines.mightyDaemon, machineConfigNodes, 'a', { spec: { pool: { name: 'master' } } }),
    },
    {
      what: 'label a MachineConfigNode',
      door: 'mcn-guards',
      attempt: () => merge(machines.mightyDaemon, machineConfigNodes, 'a', { metadata: { labels: { a: 'b' } } }),
    },
    {
      what: 'delete a MachineConfigNode',
      door: 'mcn-guards',
      attempt: () => machines.mightyDaemon.delete(machineConfigNodes, { name: 'a' }, {}),
    },
    {
      what: 'write the status of a Node',
      door: 'node-guards',
      attempt: () => annotate(machines.mightyDaemon, 'a', { [nodeAnnotations.state]: 'Done' }, 'status'),
    },
    {
      what: 'make a Node',
      door: 'node-guards',
      attempt: () => machines.mightyDaemon.create(nodes, node('c')),
    },
  ])('and cannot $what', async ({ attempt, door }) => {
    await expectRefused(attempt(), door);
  });
});

describe('people', () => {
  it('write what they like on Nodes, as before', async () => {
    await annotate(machines.admin, 'b', { [nodeAnnotations.desiredConfig]: rendered, 'slipway.dev/note': 'x' });
    await setLabel(machines.admin, 'b');
    expect((await getNode('b')).metadata.annotations).toMatchObject({ 'slipway.dev/note': 'x' });
  });

  it('leave MachineConfigNodes to the controller, and may label them', async () => {
    const { admin } = machines;
    await merge(admin, machineConfigNodes, 'b', { metadata: { labels: { 'example.com/seen': 'yes' } } });
    await expectRefused(admin.create(machineConfigNodes, buildRecord('c')), 'mcn-guards');
    await expectRefused(admin.delete(machineConfigNodes, { name: 'b' }, {}), 'mcn-guards');
    await expectRefused(merge(admin, machineConfigNodes, 'b', { spec: { pool: { name: 'x' } } }), 'mcn-guards');
    await expectRefused(setStatus(admin, 'b'), 'mcn-guards');
  });

  it('pass in an emergency', async () => {
    const { breakGlass } = machines;
    await expect(breakGlass.create(machineConfigNodes, buildRecord('c'), { dryRun: true })).resolves.toBeDefined();
    await setStatus(breakGlass, 'b');
    expect((await getRecord('b')).status?.conditions).toHaveLength(1);
  });
});

describe('the record of a node', () => {
  const role = (name: string) => `node-role.kubernetes.io/${name}`;

  it('is made with it, by the controller, and belongs to it', async () => {
    const { metadata } = await getNode('a');
    expect((await getRecord('a')).metadata.ownerReferences).toMatchObject([
      { kind: 'Node', name: 'a', uid: metadata.uid },
    ]);
  });

  it('follows what the controllers want of it, and its pool', async () => {
    const { admin } = machines;
    await admin.create(nodes, { metadata: { name: 'd' } });
    await until(async () => expect((await getRecord('d')).spec).toMatchObject({ pool: { name: 'not-yet-set' } }));
    await merge(admin, nodes, 'd', {
      metadata: { labels: { [role('worker')]: '' }, annotations: { [nodeAnnotations.desiredConfig]: rendered } },
    });
    await until(async () => expect((await getRecord('d')).spec).toEqual(buildRecord('d').spec));
    await machines.operator.create(machineConfigPools, {
      metadata: { name: 'infra' },
      spec: { nodeSelector: { matchLabels: { [role('infra')]: '' } } },
    });
    await merge(admin, nodes, 'd', { metadata: { labels: { [role('infra')]: '' } } });
    await until(async () => expect((await getRecord('d')).spec.pool.name).toBe('infra'));
    await machines.operator.delete(machineConfigPools, { name: 'infra' }, {});
    await until(async () => expect((await getRecord('d')).spec.pool.name).toBe('worker'));
  });

  it('begins anew with a new machine of the same name, and goes with it', async () => {
    const { admin } = machines;
    const before = await getRecord('d');
    await admin.delete(nodes, { name: 'd' }, {});
    await admin.create(nodes, node('d'));
    await until(async () => expect((await getRecord('d')).metadata.uid).not.toBe(before.metadata.uid));
    await admin.delete(nodes, { name: 'd' }, {});
    await until(async () => expect(await admin.find(machineConfigNodes, { name: 'd' })).toBeUndefined());
  });
});
