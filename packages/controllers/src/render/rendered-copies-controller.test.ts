import {
  type MachineConfig,
  machineConfigPools,
  machineConfigs,
  nodeAnnotations,
  nodes,
  poolLabel,
  secrets,
} from '@slipway/api';
import { canonicalJson, renderedName } from '@slipway/fleet';
import { ignitionConfig, machineConfigPool } from '@slipway/testing/builders';
import { describe, expect, it } from 'vitest';
import { createCluster } from '../testing/simulation/simulated-cluster.ts';
import { planCopies, type RenderedFacts, renderedCopiesController } from './rendered-copies-controller.ts';

const nothing = { copy: [], restore: [], lost: [], drop: [] };
const fact = (more: Partial<RenderedFacts>): RenderedFacts => ({
  name: 'a',
  original: 'intact',
  isInUse: true,
  copy: 'none',
  ...more,
});

describe('a copy of a rendered config', () => {
  it.each<[string, Partial<RenderedFacts>, object]>([
    ['is made while the config is in use', {}, { copy: ['a'] }],
    ['is completed if it was started', { copy: 'part' }, { copy: ['a'] }],
    ['is not made for an unused config', { isInUse: false }, {}],
    ['is not made of a changed config, which is reported', { original: 'changed' }, { lost: ['a'] }],
    ['is not completed from a changed config', { original: 'changed', copy: 'part' }, { lost: ['a'] }],
    ['stays while it may be needed', { copy: 'whole' }, {}],
    ['restores a deleted config', { original: 'none', copy: 'whole' }, { restore: ['a'] }],
    ['restores a changed config', { original: 'changed', copy: 'whole' }, { restore: ['a'] }],
    ['cannot restore a config while it is incomplete', { original: 'none', copy: 'part' }, {}],
    ['is deleted when the config is no longer used', { isInUse: false, copy: 'whole' }, { drop: ['a'] }],
    ['is deleted when its unused config is gone', { original: 'none', isInUse: false, copy: 'part' }, { drop: ['a'] }],
  ])('%s', (_, more, plan) => {
    expect(planCopies([fact(more)])).toEqual({ ...nothing, ...plan });
  });
});

describe('a rendered config that a machine runs, and that nothing can render again', () => {
  const spec = { config: ignitionConfig({}), kernelArguments: ['quiet'] };
  const name = renderedName('worker', canonicalJson(spec));
  const original: MachineConfig = { metadata: { name, labels: { [poolLabel]: 'worker' } }, spec };
  const changed = { ...original, spec: { ...spec, kernelArguments: ['changed'] } };

  function start(first: MachineConfig) {
    const { api, time } = createCluster({
      seed: 1,
      controllers: () => [renderedCopiesController({ namespace: 'ours' })],
    });
    api.create(machineConfigPools, machineConfigPool('worker'));
    api.create(nodes, { metadata: { name: 'n1', annotations: { [nodeAnnotations.currentConfig]: name } } });
    api.create(machineConfigs, first);
    return {
      api,
      specNow: () => api.find(machineConfigs, { name })?.spec,
      copies: () => api.list(secrets).length,
      /** Packing runs in other threads, in real time: each step yields to them. */
      async until(this: void, isMet: () => boolean): Promise<void> {
        for (let step = 0; !isMet(); step += 1) {
          if (step > 1000) throw new Error('it did not happen');
          await time.runUntil(time.now() + 1000);
          await new Promise((resolve) => void setTimeout(resolve, 0));
        }
      },
    };
  }

  it.each<[string, (api: ReturnType<typeof start>['api']) => void]>([
    ['changed', (api) => api.patch(machineConfigs, { name }, { type: 'merge', body: { spec: changed.spec } })],
    ['deleted', (api) => api.delete(machineConfigs, { name })],
    [
      'replaced by another object of the same generation',
      (api) => {
        api.delete(machineConfigs, { name });
        api.create(machineConfigs, changed);
      },
    ],
  ])('is restored from its copy when it is %s', async (_, tamper) => {
    const { api, specNow, copies, until } = start(original);
    await until(() => copies() === 1);
    tamper(api);
    expect(specNow()).not.toEqual(spec);
    await until(() => canonicalJson(specNow() ?? {}) === canonicalJson(spec));
  });

  it('is not copied once it was changed', async () => {
    const { api, copies, until } = start(changed);
    let minutes = 0;
    await until(() => {
      minutes += 1;
      return minutes > 10;
    });
    expect(copies()).toBe(0);
    api.patch(machineConfigs, { name }, { type: 'merge', body: { spec } });
    await until(() => copies() === 1);
  });
});
