// A sample status report for tests.
import type { NodeReport, PoolReport, StatusReport } from '@slipway/fleet/reports';

const config = (digit: string): string => `rendered-worker-${digit.repeat(32)}`;

export const [oldConfig, newConfig] = [config('1'), config('2')];

export const nodeReport = (name: string, more: Partial<NodeReport> = {}): NodeReport => ({
  name,
  phase: 'updated',
  step: '',
  stepSince: '',
  current: newConfig,
  desired: newConfig,
  state: 'Done',
  isReady: true,
  isCordoned: false,
  isUnavailable: false,
  why: 'it has the target',
  blockedBy: '',
  ...more,
});

export const waiting = (name: string): NodeReport =>
  nodeReport(name, { phase: 'waiting', current: oldConfig, desired: oldConfig, why: 'its wave has not started' });

export const poolReport = (nodes: readonly NodeReport[], more: Partial<PoolReport> = {}): PoolReport => ({
  name: 'worker',
  phase: 'updating',
  target: newConfig,
  newest: newConfig,
  hold: null,
  isPaused: false,
  machines: {
    total: nodes.length,
    updated: nodes.filter(({ phase }) => phase === 'updated').length,
    ready: nodes.filter(({ phase }) => phase === 'updated').length,
    unavailable: nodes.filter(({ isUnavailable }) => isUnavailable).length,
    degraded: nodes.filter(({ state }) => state === 'Degraded').length,
  },
  maxUnavailable: 1,
  wave: { number: 1, of: 2, size: 1 },
  startedAt: '2026-01-02T03:04:05Z',
  secondsLeft: 240,
  summary: 'worker-0 goes first',
  request: null,
  problems: [],
  nodes,
  ...more,
});

export const buildStatusReport = (pools: readonly PoolReport[], more: Partial<StatusReport> = {}): StatusReport => ({
  stopped: null,
  pools,
  nodesWithoutPool: [],
  ...more,
});
