import {
  type MachineConfigPool,
  machineConfigPools,
  machineConfigs,
  poolLabel,
  ROLE_LABEL,
  rolloutStateAnnotation,
} from '@slipway/api';
import type { Stored } from '@slipway/kube';
import { configWithFile, machineConfig, machineConfigPool } from '@slipway/testing/builders';
import { describe, expect, it, vi } from 'vitest';
import { createCluster } from '../testing/simulation/simulated-cluster.ts';
import { renderController } from './controller.ts';

const POOL = 'infra';
/** A role that the pool does not select at first. */
const MORE = 'more';
const ofBothRoles = { key: ROLE_LABEL, operator: 'In', values: [POOL, MORE] };
const FILES = 100;
const formatName = (number: number): string => `50-file-${number}`;
const buildSpec = (number: number, text: string) => ({ config: configWithFile(`/etc/file-${number}`, text) });

/** A new pool with a hundred MachineConfigs, in virtual time, with fast views and responses. */
async function startPool() {
  const { api, time } = createCluster({
    seed: 1,
    controllers: () => [renderController({ namespace: 'ours', controllerVersion: '1' })],
    lagMs: () => 5,
  });
  for (let number = 0; number < FILES; number += 1) {
    api.create(machineConfigs, machineConfig(formatName(number), POOL, buildSpec(number, 'first')));
  }
  api.create(machineConfigs, machineConfig('60-more', MORE, buildSpec(FILES, 'more')));

  const renderedCount = (): number =>
    api.list(machineConfigs).filter(({ metadata }) => metadata.labels?.[poolLabel] !== undefined).length;
  const findPool = (): Stored<MachineConfigPool> => api.get(machineConfigPools, { name: POOL });
  const patchPool = (body: object, subresource?: string): unknown =>
    api.patch(machineConfigPools, { name: POOL }, { type: 'merge', body }, {}, subresource);

  /** Digests are computed in other threads, in real time: each step yields to them. */
  async function pass(ms: number): Promise<void> {
    for (const end = time.now() + ms; time.now() < end;) {
      await time.runUntil(time.now() + 10);
      await new Promise((resolve) => void setTimeout(resolve, 0));
    }
  }

  await pass(1000);
  api.create(machineConfigPools, machineConfigPool(POOL));
  return {
    renderedCount,
    pass,
    /** A write of a user. */
    edit: (number: number, text: string): unknown =>
      api.patch(
        machineConfigs,
        { name: formatName(number) },
        { type: 'merge', body: { spec: buildSpec(number, text) } },
      ),
    selectMore: (): unknown =>
      patchPool({ spec: { machineConfigSelector: { matchLabels: null, matchExpressions: [ofBothRoles] } } }),
    /** A write of the rollout controller. */
    report: (machines: number): void => {
      patchPool({ status: { updatedMachineCount: machines } }, 'status');
      patchPool({ metadata: { annotations: { [rolloutStateAnnotation]: `${machines}` } } });
    },
    /** Milliseconds until the pool points at a new rendered config. Each `meanwhile` takes a tenth of a second. */
    async untilRendered(meanwhile: (step: number) => void = () => {}): Promise<number> {
      const before = findPool().spec.configuration?.name;
      const start = time.now();
      for (let step = 0; findPool().spec.configuration?.name === before; step += 1) {
        if (time.now() - start > 60_000) throw new Error('nothing was rendered in a minute');
        meanwhile(step);
        await pass(100);
      }
      return time.now() - start;
    },
  };
}

describe('edits', () => {
  it('that arrive together, a hundred of them, produce one rendered config', async () => {
    const pool = await startPool();
    await pool.untilRendered();
    for (let number = 0; number < FILES; number += 1) {
      pool.edit(number, 'second');
      await pool.pass(10);
    }
    await pool.untilRendered();
    await pool.pass(4000);
    expect(pool.renderedCount()).toBe(2);
  });

  it('of the pool and of its MachineConfigs that arrive together produce one rendered config', async () => {
    const pool = await startPool();
    await pool.untilRendered();
    pool.selectMore();
    await pool.pass(50);
    pool.edit(0, 'second');
    await pool.untilRendered();
    await pool.pass(4000);
    expect(pool.renderedCount()).toBe(2);
  });

  it('that never stop are rendered anyway, after three seconds', async () => {
    const pool = await startPool();
    await pool.untilRendered();
    const ms = await pool.untilRendered((step) => pool.edit(0, `text ${step}`));
    expect(ms).toBeGreaterThan(2000);
    expect(ms).toBeLessThan(5000);
  });
});

describe('a single edit', () => {
  it('is not delayed noticeably', async () => {
    const pool = await startPool();
    await pool.untilRendered();
    pool.edit(0, 'second');
    expect(await pool.untilRendered()).toBeLessThan(1000);
  });

  it('is not delayed by status updates of the pool', async () => {
    const pool = await startPool();
    await pool.untilRendered();
    await pool.pass(1000);
    pool.edit(0, 'second');
    expect(await pool.untilRendered((step) => pool.report(step))).toBeLessThan(1000);
  });
});

it('of a pool without a config is rendered immediately, whatever else changes: its machines wait for it', async () => {
  const pool = await startPool();
  expect(await pool.untilRendered((step) => pool.edit(0, `text ${step}`))).toBeLessThan(1000);
});

it('a pool whose selector is empty renders nothing, and its event has the reason that users know', async () => {
  const events: string[] = [];
  const { api, time } = createCluster({
    seed: 1,
    controllers: () => [renderController({ namespace: 'ours', controllerVersion: '1' })],
    recordEvent: (_, { metadata }, { type, reason, message }) =>
      events.push(`${metadata.name} ${type} ${reason}: ${message}`),
  });
  api.create(machineConfigs, machineConfig('50-a', 'worker', buildSpec(0, 'a')));
  api.create(machineConfigPools, machineConfigPool('worker', { machineConfigSelector: {} }));
  await time.runUntil(time.now() + 60_000);
  expect(api.list(machineConfigs)).toHaveLength(1);
  expect(events).toEqual([
    expect.stringMatching(/^worker Warning SelectingAll: MachineConfigPool worker, spec\.machineConfigSelector: /),
  ]);
});

it('a pool is rendered although a check of its MachineConfig broke once', async () => {
  const broken = vi.spyOn(crypto.subtle, 'digest').mockRejectedValueOnce(new Error('out of memory'));
  const { api, time } = createCluster({
    seed: 1,
    controllers: () => [renderController({ namespace: 'ours', controllerVersion: '1' })],
  });
  const hash = 'sha256-ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb';
  const contents = { source: 'data:,a', verification: { hash } };
  api.create(machineConfigs, machineConfig('50-a', POOL, { config: configWithFile('/etc/a', 'a', { contents }) }));
  api.create(machineConfigPools, machineConfigPool(POOL));
  for (let second = 0; second < 60; second += 1) {
    await time.runUntil(time.now() + 1000);
    await new Promise((resolve) => void setTimeout(resolve, 0));
  }
  expect(broken).toHaveBeenCalled();
  expect(api.get(machineConfigPools, { name: POOL }).spec.configuration?.name).toMatch(/^rendered-/);
});
