import { machineConfigPools, machineConfigs } from '@slipway/api';
import { customPool, machineConfig, machineConfigPool } from '@slipway/testing/builders';
import { describe, expect, it } from 'vitest';
import { createCluster } from '../testing/simulation/simulated-cluster.ts';
import { unselectedController } from './unselected-controller.ts';

const MINUTE = 60_000;

async function startCluster() {
  const recorded: string[] = [];
  const cluster = createCluster({
    seed: 1,
    controllers: () => [unselectedController()],
    lagMs: () => 5,
    recordEvent: (_, { metadata }, { type, reason, message }) =>
      recorded.push(`${metadata.name} ${type} ${reason}: ${message}`),
  });
  const { api, time } = cluster;
  api.create(machineConfigPools, machineConfigPool('worker'));
  api.create(machineConfigs, machineConfig('50-good', 'worker', {}));
  api.create(machineConfigs, machineConfig('50-typo', 'workers', {}));
  const pass = (ms: number): Promise<void> => time.runUntil(time.now() + ms);
  const relabel = (role: string): unknown =>
    api.patch(
      machineConfigs,
      { name: '50-typo' },
      { type: 'merge', body: { metadata: { labels: { 'machineconfiguration.openshift.io/role': role } } } },
    );
  await pass(MINUTE / 2);
  return { api, recorded, pass, relabel, restart: () => cluster.restart(0) };
}

describe('a MachineConfig that no pool selects', () => {
  it('gets one event after a minute, with what to do, however often something changes', async () => {
    const { api, recorded, pass } = await startCluster();
    expect(recorded).toEqual([]);
    await pass(MINUTE);
    expect(recorded).toEqual([
      expect.stringMatching(/^50-typo Warning NotSelected: .*Did you mean worker\? \[SLW_RENDER_UNSELECTED\]$/),
    ]);
    for (let edit = 0; edit < 5; edit += 1) {
      const body = { metadata: { annotations: { edit: String(edit) } } };
      api.patch(machineConfigs, { name: '50-typo' }, { type: 'merge', body });
      api.patch(machineConfigPools, { name: 'worker' }, { type: 'merge', body: { spec: { paused: edit % 2 === 0 } } });
      await pass(MINUTE);
    }
    expect(recorded).toHaveLength(1);
  });

  it('gets none if its pool arrives within the minute', async () => {
    const { api, recorded, pass } = await startCluster();
    api.create(machineConfigPools, customPool('workers'));
    await pass(5 * MINUTE);
    expect(recorded).toEqual([]);
  });

  it('gets another one if it was selected in between', async () => {
    const { recorded, pass, relabel } = await startCluster();
    await pass(MINUTE);
    relabel('worker');
    await pass(MINUTE);
    relabel('workers');
    await pass(MINUTE / 2);
    expect(recorded).toHaveLength(1);
    await pass(MINUTE);
    expect(recorded).toHaveLength(2);
  });

  it('gets another one if the cause changes', async () => {
    const { recorded, pass, relabel } = await startCluster();
    await pass(MINUTE);
    relabel('wrkr');
    await pass(MINUTE);
    expect(recorded).toEqual([expect.stringContaining('"workers"'), expect.stringContaining('"wrkr"')]);
  });

  it('gets no other one because there is another pool', async () => {
    const { api, recorded, pass } = await startCluster();
    await pass(MINUTE);
    api.create(machineConfigPools, customPool('infra'));
    await pass(2 * MINUTE);
    expect(recorded).toHaveLength(1);
  });

  it('gets one of its own if it replaces one of the same name', async () => {
    const { api, recorded, pass } = await startCluster();
    await pass(MINUTE);
    api.delete(machineConfigs, { name: '50-typo' });
    api.create(machineConfigs, machineConfig('50-typo', 'workers', {}));
    await pass(2 * MINUTE);
    expect(recorded).toHaveLength(2);
  });
});

it('of hundreds of MachineConfigs, fifty are reported in ten minutes after each start, and all in the end', async () => {
  const { api, recorded, pass, restart } = await startCluster();
  const typos = Array.from({ length: 120 }, (_, number) => `60-${number}`);
  for (const name of typos) api.create(machineConfigs, machineConfig(name, 'workers', {}));
  const counts: number[] = [];
  for (const minutes of [5, 3, 5, 10]) {
    await pass(minutes * MINUTE);
    counts.push(recorded.length);
  }
  expect(counts).toEqual([50, 50, 100, 121]);
  restart();
  await pass(5 * MINUTE);
  expect(recorded).toHaveLength(121 + 50);
});
