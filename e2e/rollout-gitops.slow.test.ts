import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectNoFightWithGitOps } from './rollout/gitops.ts';
import { type RolloutScene, startRolloutScene } from './rollout/rollout-scene.ts';

const WORKERS = 4;
const SYNC_MS = 5000;

let scene: RolloutScene;

beforeAll(async () => {
  scene = await startRolloutScene({ worker: WORKERS });
}, 120_000);
afterAll(() => scene?.stop(), 60_000);

it('a GitOps tool that applies the pool and its MachineConfig every five seconds costs no write of ours', async () => {
  const workers = scene.machines.names().filter((name) => name.startsWith('worker-'));
  expect(workers).toHaveLength(WORKERS);
  await expectNoFightWithGitOps(scene, { intervalMs: SYNC_MS, workers, soak: '6s' });
}, 300_000);
