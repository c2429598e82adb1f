import { type MachineConfigNode, rolloutHistoryAnnotation } from '@slipway/api';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decideFleet } from '../rollout/decide-fleet.ts';
import type { RolloutRecord } from '../rollout/facts.ts';
import { encodeHistory } from '../rollout/memory.ts';
import { computePoolStatus } from '../rollout/pool-status.ts';
import {
  recordIn,
  type SampleFleet,
  sampleFleet,
  sampleNode,
  sampleMachineConfigPool,
} from '../testing/sample-fleet.ts';
import { readNodeStep, type PoolReport, type StatusReport, statusReport } from './status-report.ts';

const now = Date.parse('2026-01-02T04:00:00Z');

function buildStatus(sample: SampleFleet, only: ReadonlySet<string> | null = null): StatusReport {
  const fleet = sampleFleet(sample);
  return statusReport(fleet, decideFleet(fleet, now), only);
}

function firstPool(sample: SampleFleet): PoolReport {
  const [pool] = buildStatus(sample).pools;
  if (pool === undefined) throw new Error('no pool');
  return pool;
}

const moving = sampleNode('b', { desired: 'rendered-worker-2', state: 'Working' });
const nodes = [sampleNode('a', { current: 'rendered-worker-2' }), moving, sampleNode('c')];

const record: RolloutRecord = {
  config: 'rendered-worker-1',
  from: null,
  startedAt: '2026-01-01T00:00:00.000Z',
  endedAt: '2026-01-01T00:10:00.000Z',
  outcome: 'completed',
  nodes: 10,
  capacity: 1,
  why: '',
};

describe('the state of a fleet', () => {
  it('counts the machines of a pool as its status does', () => {
    expect(firstPool({ nodes })).toMatchObject({
      phase: 'updating',
      target: 'rendered-worker-2',
      machines: { total: 3, updated: 1, ready: 1, unavailable: 1, degraded: 0 },
    });
  });

  it('counts machines in any state like the controller', () => {
    const node = fc.record({
      current: fc.constantFrom('rendered-worker-1', 'rendered-worker-2'),
      desired: fc.constantFrom('rendered-worker-1', 'rendered-worker-2'),
      state: fc.constantFrom('Done', 'Working', 'Degraded', 'Unreconcilable'),
      isReady: fc.boolean(),
      isCordoned: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(node, { maxLength: 6 }), (samples) => {
        const fleet = sampleFleet({ nodes: samples.map((sample, number) => sampleNode(`n${number}`, sample)) });
        const decided = decideFleet(fleet, now);
        const own = { generation: 1, renderProblem: null, source: undefined, previous: undefined };
        const expected = decided.pools.map(({ facts, decision, nodes }) => {
          const status = computePoolStatus({ ...own, pool: facts, decision, nodes });
          return {
            total: status.machineCount,
            updated: status.updatedMachineCount,
            ready: status.readyMachineCount,
            unavailable: status.unavailableMachineCount,
            degraded: status.degradedMachineCount,
          };
        });
        expect(statusReport(fleet, decided).pools.map(({ machines }) => machines)).toEqual(expected);
      }),
    );
  });

  it('has the phase of each node, and its step while it is updating', () => {
    const report = firstPool({ nodes, records: [recordIn('b', 'Drained'), recordIn('c', 'Drained')] });
    expect(report.nodes.map(({ name, phase, step }) => [name, phase, step])).toEqual([
      ['a', 'updated', ''],
      ['b', 'updating', 'draining'],
      ['c', 'waiting', ''],
    ]);
  });

  it('estimates the time left from past rollouts, only while machines are updated', () => {
    const annotations = { [rolloutHistoryAnnotation]: encodeHistory([record]) };
    const running = firstPool({ pools: [sampleMachineConfigPool('worker', { annotations })], nodes });
    // One minute per machine, and two are left.
    expect(running.secondsLeft).toBe(120);
    expect(firstPool({ nodes }).secondsLeft).toBeNull();
    expect(
      firstPool({ pools: [sampleMachineConfigPool('worker', { annotations, paused: true })], nodes }).secondsLeft,
    ).toBeNull();
  });

  it.each<[string, ReturnType<typeof sampleNode>]>([
    ['cordoned', sampleNode('b', { isCordoned: true })],
    ['that has drifted', sampleNode('b', { state: 'Degraded', reason: 'it differs [SLW_DAEMON_DRIFT]' })],
  ])('estimates nothing while a machine %s holds the only slot', (_, holder) => {
    const annotations = { [rolloutHistoryAnnotation]: encodeHistory([record]) };
    const pools = [sampleMachineConfigPool('worker', { annotations })];
    expect(firstPool({ pools, nodes: [holder, sampleNode('c')] }).secondsLeft).toBeNull();
    expect(firstPool({ pools, nodes: [sampleNode('b'), sampleNode('c')] }).secondsLeft).toBe(120);
  });

  it('does not change while nothing happens, so that a watch prints nothing', () => {
    const fleet = sampleFleet({ nodes });
    const [first, second] = [now, now + 5000].map((at) => statusReport(fleet, decideFleet(fleet, at)));
    expect(second).toEqual(first);
  });

  it('covers only the requested pools', () => {
    const sample = { pools: [sampleMachineConfigPool('infra'), sampleMachineConfigPool('worker')], nodes };
    expect(buildStatus(sample, new Set(['infra'])).pools.map(({ name }) => name)).toEqual(['infra']);
    expect(buildStatus(sample).pools).toHaveLength(2);
  });
});

const SINCE = '2026-01-02T03:04:05Z';

const withConditions = (...conditions: [type: string, status: 'True' | 'False' | 'Unknown', reason?: string][]) =>
  ({
    metadata: { name: 'n1' },
    spec: { node: { name: 'n1' }, pool: { name: 'worker' }, configVersion: { desired: 'rendered-worker-2' } },
    status: {
      conditions: conditions.map(([type, status, reason = type]) => ({
        type,
        status,
        reason,
        message: '',
        lastTransitionTime: SINCE,
      })),
    },
  }) satisfies MachineConfigNode;

describe('the current step of a node', () => {
  it.each<[string, MachineConfigNode]>([
    ['preparing', withConditions(['UpdatePrepared', 'Unknown'])],
    ['downloading the OS image', withConditions(['UpdatePrepared', 'Unknown'], ['ImagePulledFromRegistry', 'Unknown'])],
    ['draining', withConditions(['UpdatePrepared', 'True'], ['UpdateExecuted', 'Unknown'], ['Drained', 'Unknown'])],
    [
      'applying files',
      withConditions(['UpdateExecuted', 'Unknown'], ['AppliedFiles', 'Unknown'], ['AppliedFilesAndOS', 'Unknown']),
    ],
    ['rebooting', withConditions(['UpdatePostActionComplete', 'Unknown'], ['RebootedNode', 'Unknown'])],
    ['uncordoning', withConditions(['UpdateComplete', 'Unknown'], ['Uncordoned', 'Unknown'])],
    ['going back', withConditions(['UpdatePrepared', 'Unknown', 'RollingBack'], ['Drained', 'Unknown', 'RollingBack'])],
  ])('%s', (words, record) => {
    expect(readNodeStep(record)).toEqual({ words, since: SINCE });
  });

  it('is empty if no step is in progress, or the daemon has reported nothing', () => {
    expect(readNodeStep(withConditions(['Updated', 'True'], ['Drained', 'False'])).words).toBe('');
    expect(readNodeStep(undefined).words).toBe('');
  });
});
