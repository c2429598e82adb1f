import { describe, expect, it } from 'vitest';
import { eventsOf, nodeEvent } from './node-events.ts';

const prefix = 'machineconfiguration.openshift.io/';
const annotations = (values: Record<string, string>) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [prefix + name, value]));
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
      message: 'The machine reboots; before that it ran rendered-1',
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
      message: 'The node asks to be drained, for the update to rendered-2',
    },
    {
      changed: { desiredDrain: 'uncordon-rendered-2' },
      type: 'Normal',
      reason: 'Uncordon',
      message: 'The node runs rendered-2 and asks for its pods back',
    },
  ])('$reason, when $changed is new', ({ changed, ...event }) => {
    expect(eventsOf(there, annotations(changed))).toEqual([event]);
  });

  it('none where work only goes on', () => {
    expect(eventsOf(there, annotations({ state: 'Working' }))).toEqual([]);
    expect(eventsOf(there, {})).toEqual([]);
  });

  it('warn where something is wrong', () => {
    expect(nodeEvent('ConfigDriftDetected', 'x').type).toBe('Warning');
    expect(nodeEvent('ConfigDriftMonitorStarted', 'x').type).toBe('Normal');
  });
});
