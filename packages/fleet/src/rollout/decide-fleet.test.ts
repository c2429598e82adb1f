import { rolloutPolicyAnnotations, rolloutRequestAnnotation } from '@slipway/api';
import { describe, expect, it } from 'vitest';
import { sampleFleet, sampleNode, sampleMachineConfigPool } from '../testing/sample-fleet.ts';
import { decideFleet } from './decide-fleet.ts';

const now = Date.parse('2026-01-02T04:00:00Z');

describe('decideFleet', () => {
  it('puts every node into its pool, and reports why the others have none', () => {
    const fleet = sampleFleet({
      pools: [sampleMachineConfigPool('infra'), sampleMachineConfigPool('worker')],
      nodes: [sampleNode('n1'), sampleNode('n2', { roles: ['worker', 'infra'] }), sampleNode('n3', { roles: [] })],
    });
    const { pools, outside } = decideFleet(fleet, now);
    expect(pools.map(({ name, nodes }) => [name, nodes.map((node) => node.name)])).toEqual([
      ['infra', ['n2']],
      ['worker', ['n1']],
    ]);
    expect(outside).toEqual([expect.objectContaining({ name: 'n3', code: 'SLW_POOL_NONE' })]);
  });

  it('assigns the target to as many nodes as the controller would', () => {
    const nodes = ['a', 'b', 'c'].map((name) => sampleNode(name));
    const [pool] = decideFleet(sampleFleet({ nodes }), now).pools;
    expect(pool?.decision.give.map(({ node }) => node)).toEqual(['a']);
    expect(pool?.decision).toMatchObject({ phase: 'updating', target: 'rendered-worker-2' });
  });

  it('assigns nothing while the fleet is stopped, and reports why', () => {
    const decided = decideFleet(sampleFleet({ nodes: [sampleNode('a')], stopped: 'fire' }), now);
    expect(decided.stopped).toBe('fire');
    expect(decided.pools[0]?.decision).toMatchObject({ phase: 'stopped', give: [] });
  });

  it('updates no master while an arbiter is unavailable', () => {
    const nodes = [
      sampleNode('m1', { roles: ['master'], current: 'rendered-master-1' }),
      sampleNode('a1', { roles: ['arbiter'], current: 'rendered-arbiter-1', isReady: false }),
    ];
    const pools = [
      sampleMachineConfigPool('arbiter', { target: 'rendered-arbiter-1' }),
      sampleMachineConfigPool('master'),
    ];
    const [, master] = decideFleet(sampleFleet({ pools, nodes }), now).pools;
    expect(master?.decision.give).toEqual([]);
  });

  it('returns the user request, and problems of the settings', () => {
    const annotations = { [rolloutRequestAnnotation]: 'cancel', [rolloutPolicyAnnotations.soak]: 'soon' };
    const [pool] = decideFleet(
      sampleFleet({ pools: [sampleMachineConfigPool('worker', { annotations })], nodes: [] }),
      now,
    ).pools;
    expect(pool?.request).toBe('cancel');
    expect(pool?.problems).toEqual([expect.stringMatching(/rollout-soak.*soon.*\[SLW_ROLLOUT_/)]);
  });
});
