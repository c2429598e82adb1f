import { machineConfigurations, nodeAnnotations, stopRolloutsAnnotation } from '@slipway/api';
import type { Node } from '@slipway/api';
import { specWithFile } from '@slipway/testing/builders';
import { until } from '@slipway/testing/wait';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { countOut, desiredOf, type RolloutScene, startRolloutScene } from './rollout/rollout-scene.ts';

let scene: RolloutScene;
let target = '';
const MASTER = 'node-role.kubernetes.io/master';

async function settled(config: string, machines: number): Promise<void> {
  target = config;
  await scene.updated('master', config, machines);
}

/** The names of nodes in the order in which they were given a config. */
function watchGiven(config: () => string): { order: string[]; stop(): void } {
  const order: string[] = [];
  const stop = scene.nodes.onChange((change) => {
    if (change.type !== 'updated') return;
    const [before, after]: (string | undefined)[] = [change.old, change.object].map((node: Node) => desiredOf(node));
    if (before !== after && after === config()) order.push(change.object.metadata.name);
  });
  return { order, stop };
}

beforeAll(async () => {
  scene = await startRolloutScene({ master: 3 });
  await settled((await scene.pool('master')).spec.configuration?.name ?? '', 3);
}, 120_000);
afterAll(() => scene?.stop(), 60_000);

it('two masters never together, whatever maxUnavailable says', async () => {
  await scene.patchPool('master', {
    spec: { maxUnavailable: 3 },
    metadata: { annotations: { 'slipway.dev/rollout-waves': '100%' } },
  });
  const out = countOut(scene, MASTER);
  await settled(await scene.apply('50-first', 'master', specWithFile('/etc/first', 'one')), 3);
  expect(out.most()).toBe(1);
  out.stop();
});

it('the controller’s own node is the last one', async () => {
  await scene.cluster.restartControllers('--own-node', 'master-0');
  let config = '';
  const given = watchGiven(() => config);
  config = await scene.apply('50-second', 'master', specWithFile('/etc/second', 'one'));
  await settled(config, 3);
  expect(given.order.at(-1)).toBe('master-0');
  given.stop();
});

it('the stop switch stops within one reconcile, and resumes', async () => {
  await scene.run('pause', '--all', '--reason', 'an incident');
  const { metadata } = await scene.client.get(machineConfigurations, { name: 'cluster' });
  expect(metadata.annotations?.[stopRolloutsAnnotation]).toContain('an incident');
  const config = await scene.apply('50-third', 'master', specWithFile('/etc/third', 'one'));
  await until(async () => {
    const updating = (await scene.pool('master')).status?.conditions?.find(({ type }) => type === 'Updating');
    expect(updating?.message).toContain('an incident');
  }, 'rollout');
  for (const name of scene.machines.names()) expect(desiredOf(await scene.node(name))).toBe(target);
  await scene.run('resume', '--all');
  await settled(config, 3);
});

it('a single-node cluster updates, without a drain that could not end', async () => {
  for (const name of ['master-1', 'master-2']) await scene.machines.remove(name);
  await settled(target, 1);
  const boot = (await scene.node('master-0')).status?.nodeInfo?.bootID;
  const config = await scene.apply('50-alone', 'master', specWithFile('/etc/alone', 'one'));
  await settled(config, 1);
  const node = await scene.node('master-0');
  expect(node.status?.nodeInfo?.bootID).not.toBe(boot);
  expect(node.spec?.unschedulable).toBeUndefined();
  expect(node.metadata.annotations?.[nodeAnnotations.lastAppliedDrain]).toBe(`uncordon-${config}`);
});
