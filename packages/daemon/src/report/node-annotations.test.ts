import { describe, expect, it } from 'vitest';
import {
  buildAnnotations,
  diffAnnotations,
  buildEvents,
  buildNodeEvent,
  computeDaemonState,
} from './node-annotations.ts';
import type { NodeSnapshot, SnapshotProblem } from './snapshot.ts';

const PREFIX = 'machineconfiguration.openshift.io/';
const snapshot: NodeSnapshot = {
  currentConfig: 'rendered-worker-1',
  desiredConfig: 'rendered-worker-1',
  phase: 'idle',
  update: null,
  problem: null,
  desiredDrain: null,
  irreconcilable: [],
};
const problem: SnapshotProblem = { state: 'Degraded', code: 'SLW_DAEMON_X', message: 'it broke' };

describe('the state of a node', () => {
  it.each<[string, Partial<NodeSnapshot>, string]>([
    ['is idle', {}, 'Done'],
    ['prepares', { phase: 'preparing' }, 'Working'],
    ['waits for its drain', { phase: 'draining' }, 'Working'],
    ['reboots', { phase: 'rebooting' }, 'Rebooting'],
    ['waits to be uncordoned', { phase: 'uncordoning' }, 'Done'],
    ['has a problem', { problem }, 'Degraded'],
    ['has a problem during an update', { phase: 'applying files', problem }, 'Degraded'],
    [
      'has an irreconcilable config',
      { phase: 'preparing', problem: { ...problem, state: 'Unreconcilable' } },
      'Unreconcilable',
    ],
    ['is rolling back an update', { phase: 'applying files', problem: { ...problem, undo: 'under way' } }, 'Working'],
    [
      'is rolling back an update with a reboot',
      { phase: 'rebooting', problem: { ...problem, undo: 'under way' } },
      'Rebooting',
    ],
    ['has rolled it back', { phase: 'applying files', problem: { ...problem, undo: 'done' } }, 'Degraded'],
  ])('that %s', (_, more, state) => {
    expect(computeDaemonState({ ...snapshot, ...more })).toBe(state);
  });
});

describe('the annotations of a node', () => {
  it('report the current config, a healthy state, and nothing unknown', () => {
    expect(buildAnnotations(snapshot)).toEqual({
      [`${PREFIX}currentConfig`]: 'rendered-worker-1',
      'slipway.dev/reported-config': 'rendered-worker-1',
      [`${PREFIX}state`]: 'Done',
      [`${PREFIX}reason`]: '',
    });
    expect(buildAnnotations({ ...snapshot, currentConfig: null })).not.toHaveProperty([`${PREFIX}currentConfig`]);
    const unassigned = buildAnnotations({ ...snapshot, desiredConfig: null });
    expect(unassigned).not.toHaveProperty(['slipway.dev/reported-config']);
  });

  it('name the config that the state is about: the desired one, also while the current one is another', () => {
    expect(buildAnnotations({ ...snapshot, desiredConfig: 'rendered-worker-2', problem })).toMatchObject({
      [`${PREFIX}currentConfig`]: 'rendered-worker-1',
      'slipway.dev/reported-config': 'rendered-worker-2',
      [`${PREFIX}state`]: 'Degraded',
    });
  });

  it('request a drain', () => {
    expect(buildAnnotations({ ...snapshot, desiredDrain: 'drain-x' })).toHaveProperty(
      [`${PREFIX}desiredDrain`],
      'drain-x',
    );
  });

  it('have the reason with its code, which stays complete if the message is far too long', () => {
    expect(buildAnnotations({ ...snapshot, problem })[`${PREFIX}reason`]).toBe('it broke [SLW_DAEMON_X]');
    const long = buildAnnotations({ ...snapshot, problem: { ...problem, message: 'ü'.repeat(9000) } });
    const reason = long[`${PREFIX}reason`] ?? '';
    expect(Buffer.byteLength(reason)).toBeLessThanOrEqual(8192);
    expect(Buffer.byteLength(reason)).toBeGreaterThan(8180);
    expect(reason).toMatch(/^ü+… \[SLW_DAEMON_X\]$/);
  });

  it('have the reason in one line and without secrets', () => {
    const message = 'cannot pull:\n  TOKEN=abc123';
    const reason = buildAnnotations({ ...snapshot, problem: { ...problem, message } })[`${PREFIX}reason`];
    expect(reason).toBe('cannot pull: TOKEN=(hidden) [SLW_DAEMON_X]');
  });

  it('are written only if they differ', () => {
    const wanted = buildAnnotations(snapshot);
    expect(diffAnnotations({ ...wanted, other: 'x' }, wanted)).toEqual({});
    expect(diffAnnotations({ ...wanted, [`${PREFIX}state`]: 'Working' }, wanted)).toEqual({
      [`${PREFIX}state`]: 'Done',
    });
  });
});

const EVENT_PREFIX = 'machineconfiguration.openshift.io/';
const annotations = (values: Record<string, string>) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [EVENT_PREFIX + name, value]));
const there = annotations({ currentConfig: 'rendered-1', state: 'Working', reason: '' });

describe('the events of a node', () => {
  it.each([
    {
      changed: { state: 'Done', currentConfig: 'rendered-2' },
      type: 'Normal',
      reason: 'NodeDone',
      message: 'The node runs rendered-2',
    },
    {
      changed: { state: 'Rebooting' },
      type: 'Normal',
      reason: 'Reboot',
      message: 'The machine is rebooting from rendered-1',
    },
    {
      changed: { state: 'Degraded', reason: 'it broke' },
      type: 'Warning',
      reason: 'NodeDegraded',
      message: 'it broke',
    },
    {
      changed: { state: 'Unreconcilable', reason: 'disks' },
      type: 'Warning',
      reason: 'FailedToReconcile',
      message: 'disks',
    },
    {
      changed: { desiredDrain: 'drain-rendered-2' },
      type: 'Normal',
      reason: 'Drain',
      message: 'The node requests a drain for the update to rendered-2',
    },
    {
      changed: { desiredDrain: 'uncordon-rendered-2' },
      type: 'Normal',
      reason: 'Uncordon',
      message: 'The node runs rendered-2 and requests to be uncordoned',
    },
  ])('$reason, when $changed is new', ({ changed, ...event }) => {
    expect(buildEvents(there, annotations(changed))).toEqual([event]);
  });

  it('none if work only continues', () => {
    expect(buildEvents(there, annotations({ state: 'Working' }))).toEqual([]);
    expect(buildEvents(there, {})).toEqual([]);
  });

  it('warn if something is wrong', () => {
    expect(buildNodeEvent('ConfigDriftDetected', 'x').type).toBe('Warning');
    expect(buildNodeEvent('ConfigDriftMonitorStarted', 'x').type).toBe('Normal');
  });
});
