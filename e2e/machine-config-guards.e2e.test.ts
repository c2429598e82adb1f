// Rendered and built-in MachineConfigs, and who tries to have them deleted, with no more rights than RBAC needs for it.
import { builtInLabel, inUseLabel, machineConfigNodes, machineConfigs, nodes, poolLabel } from '@slipway/api';
import type { Client } from '@slipway/kube';
import { machineConfig, node } from '@slipway/testing/builders';
import { breakGlass, startTestCluster, type TestCluster } from '@slipway/testing/control-plane';
import { grant } from '@slipway/testing/resources';
import { until } from '@slipway/testing/wait';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { deleteAll, expectRefused, own } from './os-stream-guards/cluster.ts';

const RENDERED = 'rendered-machine-config-guards';
const BUILT_IN = 'built-in-machine-config-guards';
const nameFor = (pool: string) => `rendered-${pool}-${'a'.repeat(32)}`;
const rendered = nameFor('worker');

let cluster: TestCluster;
let user: Client;
const names = async () => (await Array.fromAsync(cluster.admin.list(machineConfigs))).map((each) => each.metadata.name);

beforeAll(async () => {
  cluster = await startTestCluster();
  const { admin, operator } = cluster;
  for (const pool of ['worker', 'master']) {
    const labels = { [poolLabel]: pool, [inUseLabel]: '' };
    await operator.create(machineConfigs, { metadata: { name: nameFor(pool), labels } });
  }
  await operator.create(machineConfigs, { metadata: { name: '00-worker', labels: { [builtInLabel]: '' } } });
  await grant(admin, 'config-editor', machineConfigs, ['create', 'patch', 'delete', 'deletecollection']);
  user = await cluster.clientFor({ user: 'config-editor', groups: [], name: 'config-editor' });
  await until(() => user.create(machineConfigs, machineConfig('99-worker-motd', 'worker'), { dryRun: true }));
}, 120_000);
afterAll(() => cluster.stop());

it('rendered and built-in MachineConfigs stay where they are if a user deletes the whole collection', async () => {
  const before = await names();
  await expect(deleteAll(user, machineConfigs)).rejects.toThrow(/ValidatingAdmissionPolicy '(rendered|built-in)-/);
  await expectRefused(
    deleteAll(user, machineConfigs, { labelSelector: inUseLabel }),
    RENDERED,
    'a pool, a node or a MachineSet still uses MachineConfig rendered-',
  );
  expect(await names()).toEqual(before);
});

it.each([
  [rendered, RENDERED],
  ['00-worker', BUILT_IN],
])('%s gets no owner, whose absence would have it deleted, and no finalizer', async (name, policy) => {
  await expectRefused(own(user, machineConfigs, { name }), policy);
  const body = { metadata: { finalizers: ['example.com/kept'] } };
  await expectRefused(user.patch(machineConfigs, { name }, { type: 'merge', body }, {}), policy);
  const { metadata } = await cluster.admin.get(machineConfigs, { name });
  expect(metadata.ownerReferences).toBeUndefined();
  expect(metadata.finalizers).toBeUndefined();
});

it('they can be annotated, and garbage collection can do its work', async () => {
  const body = { metadata: { annotations: { 'example.com/note': 'x' } } };
  await expect(user.patch(machineConfigs, { name: rendered }, { type: 'merge', body }, {})).resolves.toBeDefined();
  const collector = await cluster.clientFor({
    user: 'system:serviceaccount:kube-system:generic-garbage-collector',
    groups: ['system:masters'],
    name: 'collector',
  });
  await expect(own(collector, machineConfigs, { name: rendered }, { dryRun: true })).resolves.toBeDefined();
});

it('a MachineConfigNode gets no owner and no finalizer from a user', async () => {
  const name = { name: 'worker-1' };
  await cluster.operator.create(nodes, node(name.name));
  const spec = { node: name, pool: { name: 'worker' }, configVersion: { desired: rendered } };
  await cluster.operator.create(machineConfigNodes, { metadata: name, spec });
  const body = { metadata: { finalizers: ['example.com/kept'] } };
  await expectRefused(cluster.admin.patch(machineConfigNodes, name, { type: 'merge', body }, {}), 'mcn-guards');
  await expectRefused(own(cluster.admin, machineConfigNodes, name), 'mcn-guards');
  const emergency = await cluster.clientFor(breakGlass);
  await expect(own(emergency, machineConfigNodes, name, { dryRun: true })).resolves.toBeDefined();
});
