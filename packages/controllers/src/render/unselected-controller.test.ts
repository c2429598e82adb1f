import { machineConfigPools, machineConfigs } from '@slipway/api';
import type { Finding } from '@slipway/fleet/check';
import { customPool, machineConfig, machineConfigPool } from '@slipway/testing/builders';
import { describe, expect, it } from 'vitest';
import { createCluster } from '../testing/simulation/simulated-cluster.ts';
import { decideReports, unselectedController } from './unselected-controller.ts';

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
  return { api, recorded, pass, relabel };
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
});

it('of thousands of MachineConfigs, fifty are reported at a time, and all in the end', () => {
  const findings = Array.from({ length: 120 }, (_, number): Finding => {
    const object = `MachineConfig 50-${number}`;
    return { severity: 'warning', code: 'SLW_RENDER_UNSELECTED', object, field: '', message: object };
  });
  let known: ReturnType<typeof decideReports>['after'] = new Map();
  const counts: number[] = [];
  for (let now = 0; now <= 3 * MINUTE; now += MINUTE) {
    const { after, report, checkAgainMs } = decideReports(known, findings, now);
    known = after;
    counts.push(report.length);
    expect(checkAgainMs === null).toBe(now === 3 * MINUTE);
  }
  expect(counts).toEqual([0, 50, 50, 20]);
});
