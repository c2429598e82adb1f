import { describe, expect, it } from 'vitest';
import { sampleStreams, tracked } from '../os-streams/testing/sample.ts';
import { buildPoolPins } from '../pinned-images/pool-summary.ts';
import { decideRollout } from './decide-rollout.ts';
import type { NodeFacts, PoolFacts, RolloutRequest } from './facts.ts';
import { type PoolCondition, type PoolStatusInput, computePoolStatus, type PoolStreamInput } from './pool-status.ts';
import {
  afterwards,
  at,
  MINUTE,
  NEW,
  NOW,
  OLD,
  sampleNode,
  sampleNodes,
  sampleRequest,
  sampleState,
} from './testing/sample.ts';

const source = { name: NEW, source: [{ name: '00-worker' }] };

function computeStatus(
  nodes: readonly NodeFacts[],
  pool: Partial<PoolFacts> = {},
  more: Partial<PoolStatusInput & Pick<RolloutRequest, 'stopped'>> = {},
) {
  const { stopped = null, ...rest } = more;
  const request = sampleRequest({ state: sampleState({ wave: 2 }), ...pool }, nodes, { stopped });
  const decision = decideRollout(request);
  return computePoolStatus({
    generation: 7,
    decision,
    pool: request.pool,
    nodes: afterwards(request, decision).nodes,
    renderProblem: null,
    source,
    previous: { name: OLD },
    ...rest,
  });
}

const findCondition = ({ conditions }: { conditions: readonly PoolCondition[] }, type: PoolCondition['type']) =>
  conditions.find((each) => each.type === type);
const statuses = ({ conditions }: { conditions: readonly PoolCondition[] }) =>
  Object.fromEntries(conditions.map(({ type, status }) => [type, status]));

const updated = { current: NEW, desired: NEW } as const;
const failed = { desired: NEW, state: 'Degraded', reason: 'no space left', givenAt: NOW - 5 * MINUTE } as const;

describe('the status of a pool', () => {
  it('that is updated', () => {
    expect(computeStatus(sampleNodes(3, updated))).toEqual({
      observedGeneration: 7,
      configuration: source,
      machineCount: 3,
      updatedMachineCount: 3,
      readyMachineCount: 3,
      unavailableMachineCount: 0,
      degradedMachineCount: 0,
      conditions: [
        {
          type: 'Updated',
          status: 'True',
          reason: 'AllMachinesUpdated',
          message: `All nodes are updated with MachineConfig ${NEW}`,
        },
        { type: 'Updating', status: 'False', reason: 'AsExpected', message: '' },
        { type: 'NodeDegraded', status: 'False', reason: 'AsExpected', message: '' },
        { type: 'RenderDegraded', status: 'False', reason: 'AsExpected', message: '' },
        { type: 'Degraded', status: 'False', reason: 'AsExpected', message: '' },
      ],
    });
  });

  it('that is updating: the config of the status stays until the last machine has the new one', () => {
    const status = computeStatus([sampleNode('canary', updated), ...sampleNodes(2)]);
    expect(status).toMatchObject({
      configuration: { name: OLD },
      machineCount: 3,
      updatedMachineCount: 1,
      readyMachineCount: 1,
      unavailableMachineCount: 1,
    });
    expect(statuses(status)).toMatchObject({ Updated: 'False', Updating: 'True', Degraded: 'False' });
    expect(findCondition(status, 'Updating')).toMatchObject({
      reason: 'RollingOut',
      message: `1 of 3 machines in pool worker has ${NEW}; wave 2 of 2; updating: worker-1`,
    });
  });

  it('without machines is updated', () => {
    const status = computeStatus([]);
    expect(statuses(status)).toMatchObject({ Updated: 'True', Updating: 'False' });
    expect(status.configuration).toEqual(source);
  });

  it('that is paused is not updating, and reports the pause', () => {
    const status = computeStatus(sampleNodes(2), { isPaused: true });
    expect(statuses(status)).toMatchObject({ Updated: 'False', Updating: 'False' });
    expect(findCondition(status, 'Updating')).toMatchObject({
      reason: 'Paused',
      message: expect.stringContaining('Pool worker is paused. 0 of 2 machines in pool worker have'),
    });
  });

  it('that is stopped with the fleet reports why', () => {
    const status = computeStatus(sampleNodes(2), {}, { stopped: 'Black Friday' });
    expect(findCondition(status, 'Updating')).toMatchObject({
      status: 'False',
      reason: 'RolloutsStopped',
      message: expect.stringContaining('Black Friday'),
    });
  });

  it('with a failed machine is degraded and halted, with the reason and what to do', () => {
    const status = computeStatus([sampleNode('canary', failed), ...sampleNodes(2)]);
    expect(status).toMatchObject({ degradedMachineCount: 1, unavailableMachineCount: 1, updatedMachineCount: 0 });
    expect(statuses(status)).toMatchObject({ Updating: 'True', NodeDegraded: 'True', Degraded: 'True' });
    expect(findCondition(status, 'NodeDegraded')?.message).toBe('Node canary is reporting: "no space left"');
    expect(findCondition(status, 'Updating')?.message).toContain('slipway resume worker');
    expect(findCondition(status, 'Degraded')).toMatchObject({ reason: 'RolloutHalted' });
  });

  it('that is halted for a deleted machine is degraded, although no machine is', () => {
    const halted = { at: at(-5), node: 'canary', reason: 'no space left' };
    const status = computeStatus(sampleNodes(2), { state: sampleState({ halted }) });
    expect(status.degradedMachineCount).toBe(0);
    expect(statuses(status)).toMatchObject({ NodeDegraded: 'False', Degraded: 'True' });
  });

  it('names the first few of many failed machines', () => {
    const status = computeStatus(sampleNodes(9, { ...failed, state: 'Unreconcilable' }));
    expect(status.degradedMachineCount).toBe(9);
    expect(findCondition(status, 'NodeDegraded')?.message).toMatch(
      /^Node worker-1 is .*worker-5 is .*, and 4 more nodes$/,
    );
  });

  it('whose config cannot be rendered reports why', () => {
    const renderProblem = { reason: 'RenderFailed', message: 'MachineConfig 99-x: bad' };
    const status = computeStatus(sampleNodes(1, updated), {}, { renderProblem });
    expect(statuses(status)).toMatchObject({ Updated: 'True', RenderDegraded: 'True', Degraded: 'True' });
    expect(findCondition(status, 'Degraded')).toMatchObject(renderProblem);
  });

  it('names the pod and the budget that block a drain', () => {
    const moving = sampleNode('worker-9', {
      desired: NEW,
      state: 'Working',
      drainBlocked: 'pod shop/db-0, budget shop/db',
    });
    const message = 'the drain of worker-9 is blocked: pod shop/db-0, budget shop/db';
    for (const pool of [{}, { isPaused: true }]) {
      const text = findCondition(computeStatus([moving, ...sampleNodes(1)], pool), 'Updating')?.message ?? '';
      expect(text.split(message)).toHaveLength(2);
    }
  });

  it('counts a cordoned machine as not ready and unavailable, and the pool as updating until it is uncordoned', () => {
    const status = computeStatus([
      sampleNode('worker-1', updated),
      sampleNode('worker-2', { ...updated, isCordoned: true }),
    ]);
    expect(status).toMatchObject({ updatedMachineCount: 2, readyMachineCount: 1, unavailableMachineCount: 1 });
    expect(status.configuration).toEqual(source);
    expect(statuses(status)).toMatchObject({ Updated: 'False', Updating: 'True' });
    expect(findCondition(status, 'Updating')?.message).toContain('Unavailable: worker-2, cordoned by a user');
  });

  it('that is held at an older config has that one, without the sources of the newest', () => {
    const hold = { kind: 'rollback', instead: NEW, at: at(-5), why: 'a user asked' } as const;
    const pool = { held: OLD, state: sampleState({ target: OLD, hold }) };
    const reference = { name: OLD, kind: 'MachineConfig', apiVersion: 'machineconfiguration.openshift.io/v1' };
    expect(computeStatus(sampleNodes(2), pool, { previous: { name: NEW } }).configuration).toEqual(reference);
    const status = computeStatus(sampleNodes(2), pool, { previous: { name: OLD } });
    expect(status.configuration).toEqual({ name: OLD });
    expect(findCondition(status, 'Updated')?.message).toBe(
      `All nodes are updated with MachineConfig ${OLD}. All machines in pool worker have ${OLD}. The pool is held there: a user asked. To continue to ${NEW}: slipway resume worker`,
    );
  });

  it('before anything is rendered has no config', () => {
    const { configuration, ...status } = computeStatus(
      sampleNodes(1),
      { newest: null, state: null },
      { previous: undefined },
    );
    expect(configuration).toBeUndefined();
    expect(statuses(status)).toMatchObject({ Updated: 'False', Updating: 'False' });
  });

  it('reports invalid settings, even if every machine is updated', () => {
    const problems = [{ code: 'SLW_ROLLOUT_POLICY', message: 'the soak is not a duration' }] as const;
    const status = computeStatus(sampleNodes(1, updated), {}, { problems });
    expect(findCondition(status, 'Updating')).toMatchObject({
      status: 'False',
      message: 'the soak is not a duration (SLW_ROLLOUT_POLICY)',
    });
  });
});

describe('the OS image stream of a pool', () => {
  const streamsByConfig: Readonly<Record<string, string>> = { [OLD]: 'rhel-9', [NEW]: 'rhel-10' };
  const osStream = (more: Partial<PoolStreamInput> = {}): { osStream: PoolStreamInput } => ({
    osStream: {
      streamOf: (config) => streamsByConfig[config] ?? null,
      tracked: tracked('rhel-10'),
      streams: sampleStreams(['rhel-9', 'rhel-10'], { lifecycle: { 'rhel-9': { state: 'deprecated' } } }),
      problem: null,
      ...more,
    },
  });

  it('is the old one until the last machine has the new one', () => {
    const moving = computeStatus([sampleNode('canary', updated), ...sampleNodes(2)], {}, osStream());
    expect(moving.osImageStream).toEqual({ name: 'rhel-9' });
    expect(findCondition(moving, 'OSStreamDeprecated')).toMatchObject({ status: 'True', reason: 'StreamEndOfLife' });

    const reached = computeStatus(sampleNodes(3, updated), {}, osStream());
    expect(reached.osImageStream).toEqual({ name: 'rhel-10' });
    expect(findCondition(reached, 'OSStreamDeprecated')).toEqual({
      type: 'OSStreamDeprecated',
      status: 'False',
      reason: 'AsExpected',
      message: '',
    });
  });

  it('is empty if the config of its machines follows none', () => {
    const status = computeStatus(sampleNodes(3, updated), {}, osStream({ streamOf: () => null }));
    expect(status).toHaveProperty('osImageStream', undefined);
  });

  it('that was removed is reported', () => {
    const frozen = osStream({ tracked: tracked('rhel-8'), streamOf: () => 'rhel-8' });
    expect(findCondition(computeStatus(sampleNodes(1, updated), {}, frozen), 'OSStreamDeprecated')).toMatchObject({
      status: 'True',
      reason: 'StreamRemoved',
      message: expect.stringContaining('MachineConfigPool worker is on the OS image stream rhel-8'),
    });
  });

  it('that cannot be followed degrades the pool, in addition to a render problem', () => {
    const problem = { reason: 'OSImageStreamInvalid', message: 'there is no stream rhel-11' };
    const alone = computeStatus(sampleNodes(1, updated), {}, osStream({ problem }));
    expect(statuses(alone)).toMatchObject({ RenderDegraded: 'True', Degraded: 'True', Updated: 'True' });
    expect(findCondition(alone, 'RenderDegraded')).toMatchObject(problem);
    expect(findCondition(alone, 'Degraded')).toMatchObject(problem);

    const renderProblem = { reason: 'RenderFailed', message: 'MachineConfig 99-x: bad' };
    const together = computeStatus(sampleNodes(1, updated), {}, { renderProblem, ...osStream({ problem }) });
    expect(findCondition(together, 'RenderDegraded')).toMatchObject({
      reason: 'RenderFailed',
      message: 'MachineConfig 99-x: bad\nthere is no stream rhel-11',
    });
  });

  it('is absent in a cluster that does not use streams', () => {
    const status = computeStatus(sampleNodes(3, updated));
    expect(status).toHaveProperty('osImageStream', undefined);
    expect(findCondition(status, 'OSStreamDeprecated')).toBeUndefined();
  });
});

describe('the status of a pool with pinned images', () => {
  const summary = {
    generation: 6,
    machines: 3,
    updated: 1,
    degraded: 0,
    fullDisks: 0,
    nodes: [],
    problems: [],
  };
  const full = { name: 'worker-1', message: 'image x: SLW_PINNING_NO_SPACE', isDiskFull: true };

  it('reports the progress of its machines', () => {
    const status = computeStatus(sampleNodes(3, updated), {}, { pins: buildPoolPins(summary) });
    expect(status.poolSynchronizersStatus).toMatchObject([{ machineCount: 3, updatedMachineCount: 1 }]);
    expect(findCondition(status, 'PinnedImageSetsDegraded')).toMatchObject({ status: 'False', reason: 'AsExpected' });
  });

  it('names failing machines, and is degraded only for a full disk', () => {
    const broken = { ...full, message: 'image x: SLW_PINNING_PULL', isDiskFull: false };
    const failing = buildPoolPins({ ...summary, degraded: 1, nodes: [broken] });
    const status = computeStatus(sampleNodes(3, updated), {}, { pins: failing });
    expect(findCondition(status, 'PinnedImageSetsDegraded')).toMatchObject({
      status: 'True',
      reason: 'PrefetchFailed',
      message: 'Node worker-1 is reporting: "image x: SLW_PINNING_PULL"',
    });
    expect(findCondition(status, 'Degraded')).toMatchObject({ status: 'False', reason: 'AsExpected' });
    const onFull = buildPoolPins({ ...summary, degraded: 1, fullDisks: 1, nodes: [full] });
    expect(findCondition(computeStatus(sampleNodes(3, updated), {}, { pins: onFull }), 'Degraded')).toEqual({
      type: 'Degraded',
      status: 'True',
      reason: 'PinnedImagesDiskFull',
      message:
        'Node worker-1 is reporting: "image x: SLW_PINNING_NO_SPACE". Until it has space, no other machine of the pool starts to pull',
    });
  });

  it('omits pins if there are no sets, or images are not pinned', () => {
    const none = computeStatus(sampleNodes(3, updated), {}, { pins: buildPoolPins(null) });
    expect(none.poolSynchronizersStatus).toBeUndefined();
    expect(findCondition(none, 'PinnedImageSetsDegraded')).toMatchObject({ status: 'False' });
    const off = computeStatus(sampleNodes(3, updated));
    expect(off.poolSynchronizersStatus).toBeUndefined();
    expect(findCondition(off, 'PinnedImageSetsDegraded')).toBeUndefined();
  });
});
