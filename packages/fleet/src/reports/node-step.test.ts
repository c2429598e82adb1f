import type { MachineConfigNode } from '@slipway/api';
import { describe, expect, it } from 'vitest';
import { nodeStepOf } from './node-step.ts';

const since = '2026-01-02T03:04:05Z';

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
        lastTransitionTime: since,
      })),
    },
  }) satisfies MachineConfigNode;

describe('what a node does now', () => {
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
    expect(nodeStepOf(record)).toEqual({ words, since });
  });

  it('is nothing where no step is under way, or the daemon has said nothing', () => {
    expect(nodeStepOf(withConditions(['Updated', 'True'], ['Drained', 'False'])).words).toBe('');
    expect(nodeStepOf(undefined).words).toBe('');
  });
});
