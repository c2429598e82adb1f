// Metrics of a daemon, with the names and labels that existing dashboards and alerts use.
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
  /** Drift was found just now. */
  drifted(): void;
}

const MAX_LABEL = 200;

export function createDaemonMetrics({ registry }: Pick<Metrics, 'registry'>): DaemonMetrics {
  const registers = [registry];
  const state = new Gauge({
    name: 'mcd_state',
    help: 'Time at which the daemon entered its current state, in seconds since 1970.',
    labelNames: ['state', 'reason'],
    registers,
  });
  const hostOs = new Gauge({
    name: 'mcd_host_os_and_version',
    help: 'Always 1. The labels describe the operating system of the machine.',
    labelNames: ['os', 'version'],
    registers,
  });
  const pivotErrors = new Counter({
    name: 'mcd_pivot_errors_total',
    help: 'Failed changes of the operating system.',
    registers,
  });
  const rebootErrors = new Counter({
    name: 'mcd_reboots_failed_total',
    help: 'Failed reboots.',
    registers,
  });
  const updates = new Gauge({
    name: 'mcd_update_state',
    help: 'Time at which the last update ended, in seconds since 1970, labelled with the config or the error.',
    labelNames: ['config', 'err'],
    registers,
  });
  const drift = new Gauge({
    name: 'mcd_config_drift',
    help: 'Time at which drift was last found, in seconds since 1970. 0: never.',
    registers,
  });
  updates.set({ config: '', err: '' }, 0);

  const setState = nowAlone(state);
  const setUpdate = nowAlone(updates);
  return {
    observe(snapshot) {
      const { problem, currentConfig, phase } = snapshot;
      // The code, not the message: labels must be short, and the annotation has the message.
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

/** Only one series exists at a time, with the time at which it started. An unchanged one keeps its time. */
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
