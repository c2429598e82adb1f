import { afterAll, beforeAll, describe, it } from 'vitest';
import { expectPolicyActions, policyActions, policyKinds, prepareForPolicies } from './rollout/policies.ts';
import { type RolloutScene, startRolloutScene } from './rollout/rollout-scene.ts';

let scene: RolloutScene;
beforeAll(async () => {
  scene = await startRolloutScene({ worker: 2 });
  await scene.updated('worker', await prepareForPolicies(scene), 2);
}, 120_000);
afterAll(() => scene?.stop());

describe('node disruption policy', () => {
  for (const kind of policyKinds)
    it.each(policyActions)(`for ${kind.name}: $type`, async (action) => {
      await expectPolicyActions(scene, kind, action);
    });
});
