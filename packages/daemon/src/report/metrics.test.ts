import { createMetrics } from '@slipway/kube';
import { describe, expect, it } from 'vitest';
import { createDaemonMetrics } from './metrics.ts';
import type { NodeSnapshot } from './snapshot.ts';

const idle: NodeSnapshot = {
  currentConfig: 'rendered-1',
  desiredConfig: 'rendered-1',
  phase: 'idle',
  update: null,
  problem: null,
  desiredDrain: null,
  irreconcilable: [],
};
const failed: NodeSnapshot = { ...idle, problem: { state: 'Degraded', code: 'SLW_DAEMON_X', message: 'm' } };

function setUp() {
  const metrics = createMetrics();
  const daemon = createDaemonMetrics(metrics);
  const lines = async (name: string): Promise<string[]> =>
    (await metrics.registry.metrics()).split('\n').filter((line) => line.startsWith(name));
  return { daemon, lines };
}

describe('the metrics of a daemon', () => {
  it('exist before anything happens, so that alerts can count from zero', async () => {
    const { lines } = setUp();
    expect(await lines('mcd_')).toEqual([
      'mcd_pivot_errors_total 0',
      'mcd_reboots_failed_total 0',
      'mcd_update_state{config="",err=""} 0',
      'mcd_config_drift 0',
    ]);
  });

  it('have one state at a time, with its start', async () => {
    const { daemon, lines } = setUp();
    const before = Date.now() / 1000;
    daemon.observe({ ...idle, phase: 'preparing' });
    daemon.observe(failed);
    const [line, ...others] = await lines('mcd_state{');
    expect(others).toEqual([]);
    expect(line).toMatch(/^mcd_state\{state="Degraded",reason="SLW_DAEMON_X"\} /);
    expect(Number(line?.split(' ').at(-1))).toBeGreaterThanOrEqual(before);
    daemon.observe(failed);
    expect(await lines('mcd_state{')).toEqual([line]);
  });

  it('record how an update ended', async () => {
    const { daemon, lines } = setUp();
    daemon.observe(failed);
    expect(await lines('mcd_update_state')).toEqual([
      expect.stringContaining('mcd_update_state{config="",err="SLW_DAEMON_X"}'),
    ]);
    daemon.observe(idle);
    expect(await lines('mcd_update_state')).toEqual([
      expect.stringContaining('mcd_update_state{config="rendered-1",err=""}'),
    ]);
  });

  it('count failures, and have the OS and the last drift', async () => {
    const { daemon, lines } = setUp();
    daemon.osUpdateFailed();
    daemon.rebootFailed();
    daemon.runsOn({ name: 'RHCOS', version: '9.6' });
    daemon.runsOn({ name: 'RHCOS', version: '9.8' });
    daemon.drifted();
    expect(await lines('mcd_pivot')).toEqual(['mcd_pivot_errors_total 1']);
    expect(await lines('mcd_reboots')).toEqual(['mcd_reboots_failed_total 1']);
    expect(await lines('mcd_host')).toEqual(['mcd_host_os_and_version{os="RHCOS",version="9.8"} 1']);
    expect(await lines('mcd_config_drift')).not.toContain('mcd_config_drift 0');
  });
});
