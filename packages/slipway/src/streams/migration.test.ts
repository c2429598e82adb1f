import { ProblemList } from '@slipway/fleet';
import type { FleetState } from '@slipway/fleet/plan';
import { machineConfig, poolOnStream, rhel10, sampleStreams } from '@slipway/fleet/testing';
import { describe, expect, it } from 'vitest';
import { buildMigration } from './migration.ts';

const state = (more: Partial<FleetState> = {}): FleetState => ({
  pools: [poolOnStream('worker', { tracked: 'rhel-9' }), poolOnStream('infra', { tracked: 'rhel-9' })],
  machineConfigs: [],
  settings: undefined,
  osImages: {},
  streams: sampleStreams(),
  controllerVersion: '1',
  ...more,
});
const refusal = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    if (error instanceof ProblemList) return error.problems.map(({ code }) => code).join(' ');
    if (error instanceof Error && 'code' in error) return String(error.code);
  }
  return 'none';
};

describe('the migration of a pool to a stream', () => {
  it('sets the stream in the payload’s spelling, in that pool only', () => {
    const before = state();
    const { applied, from, to, askedBefore } = buildMigration(before, 'infra', 'rhel10-coreos');
    expect({ from, to, askedBefore }).toEqual({ from: 'rhel-9', to: rhel10, askedBefore: null });
    expect(applied.objects).toEqual([{ kind: 'MachineConfigPool', name: 'infra', change: 'changed' }]);
    expect(applied.state.pools[0]).toBe(before.pools[0]);
    expect(applied.state.pools[1]?.spec).toEqual({
      ...before.pools[1]?.spec,
      osImageStream: { name: 'rhel-10' },
    });
  });

  it('changes nothing for a pool that already requests the stream', () => {
    const pool = poolOnStream('infra', { tracked: 'rhel-10', asked: 'rhel-10' });
    const before = state({ pools: [pool] });
    const { applied } = buildMigration(before, 'infra', 'rhel-10');
    expect(applied).toEqual({
      state: before,
      objects: [{ kind: 'MachineConfigPool', name: 'infra', change: 'same' }],
    });
  });

  it('knows whether machines need the image of OS extensions', () => {
    const machineConfigs = [machineConfig('50-sysstat', 'worker', { extensions: ['sysstat'] })];
    expect(buildMigration(state({ machineConfigs }), 'worker', 'rhel-10').needsExtensions).toBe(true);
    expect(buildMigration(state(), 'worker', 'rhel-10').needsExtensions).toBe(false);
  });

  it.each<[string, Partial<FleetState>, [string, string], string]>([
    ['a missing pool', {}, ['gpu', 'rhel-10'], 'SLW_CLI_NO_POOL'],
    ['a cluster without streams', { streams: null }, ['worker', 'rhel-10'], 'SLW_CLI_STREAM'],
    ['a missing stream', {}, ['worker', 'rhel-11'], 'SLW_STREAM_UNKNOWN'],
    [
      'a downgrade',
      { pools: [poolOnStream('worker', { tracked: 'rhel-10' })] },
      ['worker', 'rhel-9'],
      'SLW_STREAM_BACKWARD',
    ],
    [
      'its current stream, which is no longer in the payload',
      { pools: [poolOnStream('worker', { tracked: 'rhel-8' })] },
      ['worker', 'rhel-8'],
      'SLW_CLI_STREAM',
    ],
  ])('is refused for %s', (_, more, [pool, stream], code) => {
    expect(refusal(() => buildMigration(state(more), pool, stream))).toBe(code);
  });
});
