// Which config a pool's machines get, and who tries to choose another, with no more rights than RBAC needs for it.
import {
  machineConfigPools,
  machineConfigs,
  nodeAnnotations,
  nodes,
  osStreamAnnotation,
  rolloutHistoryAnnotation,
  rolloutRequestAnnotation,
  rolloutStateAnnotation,
  targetConfigAnnotation,
} from '@slipway/api';
import { rolloutController } from '@slipway/controllers';
import type { Client } from '@slipway/kube';
import { machineConfig, machineConfigPool, node, renderedConfig } from '@slipway/testing/builders';
import { startTestCluster, type TestCluster } from '@slipway/testing/control-plane';
import { grant } from '@slipway/testing/resources';
import { runControllers } from '@slipway/testing/run-controllers';
import { startGitOps } from '@slipway/testing/stand-in-gitops';
import { until } from '@slipway/testing/wait';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { annotate, expectRefused, patchPool } from './os-stream-guards/cluster.ts';

const rendered = (pool: string, digit: string) => `rendered-${pool}-${digit.repeat(32)}`;
const [older, newest] = [rendered('worker', 'a'), rendered('worker', 'b')];
const masters = rendered('master', 'c');
const PIECE = '99-worker-motd';
const GUARD = 'pool-config-guards';
const POOL = { name: 'worker' };

let cluster: TestCluster;

const getPool = () => cluster.admin.get(machineConfigPools, POOL);

beforeAll(async () => {
  cluster = await startTestCluster();
  const { operator } = cluster;
  for (const name of [older, newest]) await operator.create(machineConfigs, renderedConfig(name, 'worker'));
  await operator.create(machineConfigs, renderedConfig(masters, 'master'));
  await operator.create(machineConfigs, machineConfig(PIECE, 'worker'));
  await operator.create(machineConfigPools, machineConfigPool('worker', { configuration: { name: newest } }));
  await operator.create(nodes, node('worker-1', { config: newest }));
}, 120_000);
afterAll(() => cluster.stop());

describe('a user with only patch machineconfigpools', () => {
  let user: Client;
  beforeAll(async () => {
    await grant(cluster.admin, 'pool-editor', machineConfigPools, ['patch']);
    user = await cluster.clientFor({ user: 'pool-editor', groups: [], name: 'pool-editor' });
    await until(() => patchPool(user, 'worker', { spec: { paused: false } }));
  });

  it.each([
    ['another pool’s config', masters],
    ['a bare piece', PIECE],
    ['an older config of the pool', older],
  ])('cannot set target-config to %s', async (_, config) => {
    const message = `only the controllers write the annotation ${targetConfigAnnotation} of pool worker. To roll the pool back, run slipway rollback POOL`;
    await expectRefused(annotate(user, 'worker', { [targetConfigAnnotation]: config }), GUARD, message);
    expect((await getPool()).metadata.annotations?.[targetConfigAnnotation]).toBeUndefined();
  });

  it('cannot release a held pool by removing it', async () => {
    await annotate(cluster.operator, 'worker', { [targetConfigAnnotation]: older });
    await expectRefused(annotate(user, 'worker', { [targetConfigAnnotation]: null }), GUARD);
    await annotate(cluster.operator, 'worker', { [targetConfigAnnotation]: null });
  });

  it.each([rolloutStateAnnotation, rolloutHistoryAnnotation])(
    'cannot rewrite %s, and may remove it, as a tool that replaces the pool does',
    async (annotation) => {
      const message = `only the controllers write the annotation ${annotation} of pool worker. To roll the pool back`;
      await expectRefused(annotate(user, 'worker', { [annotation]: '{"wave":2}' }), GUARD, message);
      await annotate(cluster.operator, 'worker', { [annotation]: '{"wave":1}' });
      await expectRefused(annotate(user, 'worker', { [annotation]: '{"wave":2}' }), GUARD, message);
      await annotate(user, 'worker', { [annotation]: null });
    },
  );

  it.each([
    ['another pool’s config', masters],
    ['a bare piece', PIECE],
    ['a config of a pool with a longer name', rendered('worker-gpu', 'a')],
    ['an earlier config of the pool, from an exported file', older],
  ])('cannot set spec.configuration to %s', async (_, config) => {
    const message = `spec.configuration.name of pool worker: only the render controller changes it, found ${config}. Omit spec.configuration`;
    await expectRefused(patchPool(user, 'worker', { spec: { configuration: { name: config } } }), GUARD, message);
    expect((await getPool()).spec.configuration?.name).toBe(newest);
  });

  it('can change everything else of the pool, and ask the controllers for a target', async () => {
    await patchPool(user, 'worker', { spec: { paused: false, configuration: { name: newest } } });
    const asked = { 'slipway.dev/rollout-waves': '1,100%', [rolloutRequestAnnotation]: 'resume' };
    await annotate(user, 'worker', asked);
    expect((await getPool()).metadata.annotations).toEqual(asked);
    await annotate(user, 'worker', { 'slipway.dev/rollout-waves': null, [rolloutRequestAnnotation]: null });
  });

  it('cannot bring them along in a new pool, with all rights too', async () => {
    const create = (extra: object, annotations = {}) =>
      cluster.admin.create(machineConfigPools, machineConfigPool('arbiter', extra, annotations), { dryRun: true });
    await expectRefused(create({}, { [targetConfigAnnotation]: masters }), GUARD);
    await expectRefused(create({}, { [rolloutStateAnnotation]: '{"wave":2}' }), GUARD);
    await expectRefused(create({ configuration: { name: masters } }), GUARD);
    await expect(create({ configuration: { name: rendered('arbiter', 'a') } })).resolves.toBeDefined();
  });
});

describe('a tool that replaces whole objects', () => {
  it.each([
    ['is held', targetConfigAnnotation, older, GUARD],
    ['follows an OS image stream', osStreamAnnotation, 'rhel-9', 'pool-os-stream-record'],
  ])('cannot replace a pool that %s, without the annotation that records it', async (_, annotation, value, policy) => {
    await annotate(cluster.operator, 'worker', { [annotation]: value });
    const { configuration, ...spec } = (await getPool()).spec;
    const file = { resource: machineConfigPools, manifest: { metadata: { name: 'worker' }, spec } };
    const gitOps = await startGitOps(cluster.admin, [file], 60_000);
    await expectRefused(gitOps.replace(), policy);
    expect(await getPool()).toMatchObject({
      metadata: { annotations: { [annotation]: value } },
      spec: { configuration },
    });
    await annotate(cluster.operator, 'worker', { [annotation]: null });
    await gitOps.replace();
    await gitOps.stop();
    expect((await getPool()).spec.configuration).toBeUndefined();
    await patchPool(cluster.operator, 'worker', { spec: { configuration } });
  });
});

describe('a user with break-glass', () => {
  beforeAll(() => grant(cluster.admin, 'night-shift', machineConfigPools, ['patch']));

  it.each([
    ['another pool’s config', masters],
    ['a bare piece', PIECE],
  ])('passes admission with %s, and rollout refuses it', async (_, config) => {
    const user = await cluster.clientFor({ user: 'night-shift', groups: ['slipway:break-glass'], name: 'night-shift' });
    await until(() => annotate(user, 'worker', { [targetConfigAnnotation]: config }));
    const running = runControllers(cluster.operator, [rolloutController()]);
    try {
      await until(async () => {
        const { conditions = [] } = (await getPool()).status ?? {};
        expect(conditions.find(({ type }) => type === 'Degraded')).toMatchObject({
          status: 'True',
          reason: 'RolloutHalted',
          message: `MachineConfigPool worker, annotation ${targetConfigAnnotation}: expected a rendered MachineConfig of this pool, such as rendered-worker-…, found ${config}. No machine gets it. Remove it with: slipway resume worker (SLW_ROLLOUT_TARGET)`,
        });
      });
      const { metadata } = await cluster.admin.get(nodes, { name: 'worker-1' });
      expect(metadata.annotations).toMatchObject({ [nodeAnnotations.desiredConfig]: newest });
      await annotate(user, 'worker', { [rolloutRequestAnnotation]: 'resume' });
      await until(async () => {
        const { metadata, status } = await getPool();
        expect(metadata.annotations?.[targetConfigAnnotation]).toBeUndefined();
        expect(status?.conditions?.find(({ type }) => type === 'Degraded')).toMatchObject({ status: 'False' });
      });
      expect(running.writes.filter((write) => write.includes('Node'))).toEqual([]);
    } finally {
      await running.stop();
    }
  });
});
