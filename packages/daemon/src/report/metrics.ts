// What can be measured of a daemon, by the names and labels that dashboards and alerts for such fleets ask for.
import { truncate } from '@slipway/base/text';
import type { Metrics } from '@slipway/kube';
import { Counter, Gauge } from 'prom-client';
import { computeDaemonState } from './node-annotations.ts';
import type { NodeSnapshot } from './snapshot.ts';

export interface DaemonMetrics {
  observe(snapshot: NodeSnapshot): void;
  runsOn(os: { readonly name: string; readonly version: string }): void;
  osUpdateFailed(): void;
  rebootFailed(): void;
  /** Found just now. */
  drifted(): void;
}

const MAX_LABEL = 200;

export function createDaemonMetrics({ registry }: Pick<Metrics, 'registry'>): DaemonMetrics {
  const registers = [registry];
  const state = new Gauge({
    name: 'mcd_state',
    help: 'Since when the daemon is in its state, in seconds since 1970.',
    labelNames: ['state', 'reason'],
    registers,
  });
  const hostOs = new Gauge({
    name: 'mcd_host_os_and_version',
    help: '1 for the operating system of the machine.',
    labelNames: ['os', 'version'],
    registers,
  });
  const pivotErrors = new Counter({
    name: 'mcd_pivot_errors_total',
    help: 'Changes of the operating system that failed.',
    registers,
  });
  const rebootErrors = new Counter({
    name: 'mcd_reboots_failed_total',
    help: 'Reboots that failed.',
    registers,
  });
  const updates = new Gauge({
    name: 'mcd_update_state',
    help: 'When an update ended, in seconds since 1970: with the config, or with what went wrong.',
    labelNames: ['config', 'err'],
    registers,
  });
  const drift = new Gauge({
    name: 'mcd_config_drift',
    help: 'When drift was last found, in seconds since 1970; 0 for never.',
    registers,
  });
  updates.set({ config: '', err: '' }, 0);

  const setState = nowAlone(state);
  const setUpdate = nowAlone(updates);
  return {
    observe(snapshot) {
      const { problem, currentConfig, phase } = snapshot;
      // The code, not the message: that one is in the annotation, and a label may not be long.
      const reason = problem?.code ?? '';
      setState({ state: computeDaemonState(snapshot), reason });
      if (problem !== null) setUpdate({ config: '', err: reason });
      else if (phase === 'idle' && currentConfig !== null) setUpdate({ config: currentConfig, err: '' });
    },
    runsOn({ name, version }) {
      hostOs.reset();
      hostOs.set({ os: truncate(name, MAX_LABEL, ''), version: truncate(version, MAX_LABEL, '') }, 1);
    },
    osUpdateFailed: () => pivotErrors.inc(),
    rebootFailed: () => rebootErrors.inc(),
    drifted: () => drift.setToCurrentTime(),
  };
}

/** One series at a time, with the moment it began: what was before is gone, and what stays keeps its moment. */
function nowAlone<L extends string>(gauge: Gauge<L>): (labels: Record<L, string>) => void {
  let last = '';
  return (labels) => {
    const key = JSON.stringify(labels);
    if (key === last) return;
    last = key;
    gauge.reset();
    gauge.set(labels, Date.now() / 1000);
  };
}
