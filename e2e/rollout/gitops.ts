// A rollout beside a GitOps tool that applies the pool and its MachineConfig again and again, and replaces them once.
import {
  machineConfigPools,
  machineConfigs,
  ROLE_LABEL,
  rolloutHistoryAnnotation,
  rolloutPolicyAnnotations,
  rolloutStateAnnotation,
} from '@slipway/api';
import { isWrite, readSettledAuditLog } from '@slipway/testing/audit';
import { specWithFile } from '@slipway/testing/builders';
import { operator } from '@slipway/testing/control-plane';
import { type GitFile, ownedFields, startGitOps } from '@slipway/testing/stand-in-gitops';
import { until } from '@slipway/testing/wait';
import { expect } from 'vitest';
import { currentOf, type RolloutScene } from './rollout-scene.ts';

const CONFIG = '50-gitops';
const POOL = 'patch machineconfigpools worker';
const resources: ReadonlySet<string> = new Set(['nodes', 'machineconfigpools', 'machineconfigs', 'machineconfignodes']);

export interface GitOpsOptions {
  readonly intervalMs: number;
  readonly workers: readonly string[];
  /** Such as `1s`. */
  readonly soak: string;
}

/** Resolves to the config that every worker has in the end. */
export async function expectNoFightWithGitOps(
  scene: RolloutScene,
  { intervalMs, workers, soak }: GitOpsOptions,
): Promise<string> {
  const files: GitFile[] = [await poolFile(scene, soak)];
  await (await startGitOps(scene.client, files, intervalMs)).stop();
  let config = '';
  const alone = await countWrites(scene, async () => {
    config = await scene.apply(CONFIG, 'worker', specWithFile('/etc/gitops', 'one'));
    await scene.updated('worker', config, workers.length);
  });
  files.push(configFile('one'));
  const gitOps = await startGitOps(scene.client, files, intervalMs);
  const beside = await countWrites(scene, async () => {
    files[1] = configFile('two');
    config = await scene.cluster.renderedOtherThan('worker', config);
    await scene.updated('worker', config, workers.length);
  });
  expect(beside).toEqual(alone);

  const replaced = await countWrites(scene, async () => {
    files[1] = configFile('three');
    config = await scene.cluster.renderedOtherThan('worker', config);
    await until(async () => {
      const current = await Promise.all(workers.map(async (name) => currentOf(await scene.node(name))));
      expect(current).toContain(config);
    }, 'rollout');
    const rollout = await readRollout(scene);
    await gitOps.replace();
    await scene.updated('worker', config, workers.length);
    expect(await readRollout(scene)).toEqual({ ...rollout, ended: rollout.ended + 1 });
  });
  await gitOps.stop();
  expect(gitOps.syncs).toBeGreaterThan(2);
  // The render controller restores its spec.configuration, and the rollout controller its annotations: with a write of its
  // own, or with the next one.
  const { [POOL]: poolWrites = 0, ...others } = replaced;
  const { [POOL]: poolWritesAlone = 0, ...othersAlone } = alone;
  expect(others).toEqual(othersAlone);
  expect([1, 2]).toContain(poolWrites - poolWritesAlone);
  await expectDocumentedFields(scene);
  return config;
}

const configFile = (text: string): GitFile => ({
  resource: machineConfigs,
  manifest: {
    metadata: { name: CONFIG, labels: { [ROLE_LABEL]: 'worker' } },
    spec: specWithFile('/etc/gitops', text),
  },
});

/** As a user writes it: without what the controllers set. */
async function poolFile(scene: RolloutScene, soak: string): Promise<GitFile> {
  const { metadata, spec } = await scene.pool('worker');
  const { configuration: _, ...rest } = spec;
  const annotations = { [rolloutPolicyAnnotations.soak]: soak, [rolloutPolicyAnnotations.waves]: '1,2,100%' };
  const { labels = {} } = metadata;
  return {
    resource: machineConfigPools,
    manifest: { metadata: { name: 'worker', labels, annotations }, spec: rest },
  };
}

/** How often the controllers changed each object meanwhile. Not counted: status, and configs that are rendered. */
async function countWrites(scene: RolloutScene, work: () => Promise<void>): Promise<Record<string, number>> {
  const { auditLog } = scene.cluster.controlPlane;
  const before = (await readSettledAuditLog(auditLog, operator.user)).length;
  await work();
  const counts: Record<string, number> = {};
  for (const request of (await readSettledAuditLog(auditLog, operator.user)).slice(before)) {
    const { verb, resource, name, code } = request;
    if (!isWrite(request) || code >= 300 || !resources.has(resource) || name.startsWith('rendered-')) continue;
    const what = `${verb} ${resource} ${name}`;
    counts[what] = (counts[what] ?? 0) + 1;
  }
  return counts;
}

async function readRollout(scene: RolloutScene): Promise<{ startedAt: string; from: string; ended: number }> {
  const { annotations = {} } = (await scene.pool('worker')).metadata;
  const state = JSON.parse(annotations[rolloutStateAnnotation] ?? '{}') as { startedAt: string; from: string };
  const history = JSON.parse(annotations[rolloutHistoryAnnotation] ?? '[]') as unknown[];
  return { startedAt: state.startedAt, from: state.from, ended: history.length };
}

/** What docs/gitops.md lists. */
async function expectDocumentedFields({ client }: RolloutScene): Promise<void> {
  const pool = await client.get(machineConfigPools, { name: 'worker' });
  expect(ownedFields(pool, 'slipway-rollout')).toEqual([
    `metadata.annotations.${rolloutStateAnnotation}`,
    `metadata.annotations.${rolloutHistoryAnnotation}`,
  ]);
  const rendered = ownedFields(pool, 'slipway-render');
  expect(rendered.length).toBeGreaterThan(0);
  expect(rendered.filter((field) => !field.startsWith('spec.configuration'))).toEqual([]);
}
