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
  const countWrites = createWriteCounter(scene);
  await countWrites();
  let config = await scene.apply(CONFIG, 'worker', specWithFile('/etc/gitops', 'one'));
  await scene.updated('worker', config, workers.length);
  const alone = await countWrites();

  files.push(configFile('one'));
  const gitOps = await startGitOps(scene.client, files, intervalMs);
  files[1] = configFile('two');
  config = await scene.cluster.renderedOtherThan('worker', config);
  await scene.updated('worker', config, workers.length);
  expect(await countWrites()).toEqual(alone);

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
  await gitOps.stop();
  const replaced = await countWrites();
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
  const annotations = { [rolloutPolicyAnnotations.soak]: soak, [rolloutPolicyAnnotations.waves]: '1,100%' };
  const { labels = {} } = metadata;
  return {
    resource: machineConfigPools,
    manifest: { metadata: { name: 'worker', labels, annotations }, spec: rest },
  };
}

/** How often the controllers changed each object since the last call. Not counted: status, and rendered configs. */
function createWriteCounter({ cluster }: RolloutScene): () => Promise<Record<string, number>> {
  let counted = 0;
  return async () => {
    const requests = await readSettledAuditLog(cluster.controlPlane.auditLog, operator.user);
    const counts: Record<string, number> = {};
    for (const request of requests.slice(counted)) {
      const { verb, resource, name, code } = request;
      if (!isWrite(request) || code >= 300 || !resources.has(resource) || name.startsWith('rendered-')) continue;
      const what = `${verb} ${resource} ${name}`;
      counts[what] = (counts[what] ?? 0) + 1;
    }
    counted = requests.length;
    return counts;
  };
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
