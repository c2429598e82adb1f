import { machineConfigPools, machineConfigs, ROLE_LABEL } from '@slipway/api';
import { machineConfig, machineConfigPool, specWithFile } from '@slipway/testing/builders';
import { describe, expect, it } from 'vitest';
import { builtInControllers } from './built-in-controller.ts';
import { renderController } from './render/controller.ts';
import { createCluster } from './testing/simulation/simulated-cluster.ts';

const options = { namespace: 'ours', controllerVersion: '1' };

function startCluster() {
  const { api, time } = createCluster({
    seed: 1,
    controllers: () => [...builtInControllers(options), renderController(options)],
    lagMs: () => 5,
  });
  return {
    api,
    names: () => api.list(machineConfigs).map(({ metadata }) => metadata.name),
    renderedFrom: (name: string) =>
      api.get(machineConfigPools, { name }).spec.configuration?.source?.map((source) => source.name),
    /** Digests are computed in other threads, in real time: each step yields to them. */
    async pass(ms: number): Promise<void> {
      for (const end = time.now() + ms; time.now() < end;) {
        await time.runUntil(time.now() + 10);
        await new Promise((resolve) => void setTimeout(resolve, 0));
      }
    },
  };
}

const arbiter = machineConfigPool('arbiter');

describe('the built-in MachineConfig of arbiters', () => {
  it('does not exist in a cluster without a pool arbiter', async () => {
    const cluster = startCluster();
    await cluster.pass(2000);
    expect(cluster.names()).toEqual(expect.arrayContaining(['00-master', '00-worker']));
    expect(cluster.names()).not.toContain('00-arbiter');
    expect(cluster.renderedFrom('worker')).toEqual(['00-worker']);
  });

  it('is created for a pool arbiter, which is rendered from it', async () => {
    const cluster = startCluster();
    await cluster.pass(1000);
    cluster.api.create(machineConfigPools, arbiter);
    await cluster.pass(2000);
    expect(cluster.renderedFrom('arbiter')).toEqual(['00-arbiter']);
  });

  it('is deleted with the pool, and that of a user is not', async () => {
    const cluster = startCluster();
    cluster.api.create(machineConfigPools, arbiter);
    await cluster.pass(2000);
    expect(cluster.names()).toContain('00-arbiter');
    cluster.api.delete(machineConfigPools, { name: 'arbiter' });
    await cluster.pass(2000);
    expect(cluster.names()).not.toContain('00-arbiter');
    cluster.api.create(machineConfigs, machineConfig('00-arbiter', 'worker', {}));
    await cluster.pass(2000);
    expect(cluster.names()).toContain('00-arbiter');
  });

  it('is not put in place of one that a user made before Slipway shipped it', async () => {
    const cluster = startCluster();
    const own = specWithFile('/etc/arbiter', 'own');
    cluster.api.create(machineConfigs, machineConfig('00-arbiter', 'arbiter', own));
    cluster.api.create(machineConfigPools, arbiter);
    await cluster.pass(2000);
    expect(cluster.api.get(machineConfigs, { name: '00-arbiter' }).spec).toEqual(own);
    expect(cluster.renderedFrom('arbiter')).toEqual(['00-arbiter']);
  });

  it('is not missing for another pool that selects its role', async () => {
    const cluster = startCluster();
    const pool = machineConfigPool('edge');
    const selector = { matchExpressions: [{ key: ROLE_LABEL, operator: 'In', values: ['worker', 'arbiter'] }] };
    cluster.api.create(machineConfigPools, { ...pool, spec: { ...pool.spec, machineConfigSelector: selector } });
    await cluster.pass(2000);
    expect(cluster.renderedFrom('edge')).toEqual(['00-worker']);
  });
});
