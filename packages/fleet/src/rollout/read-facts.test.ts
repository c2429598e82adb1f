import type { MachineConfigPool, Node } from '@slipway/api';
import {
  cordonedAnnotation,
  drainBlockedAnnotation,
  nodeAnnotations,
  reportedConfigAnnotation,
  rolloutHistoryAnnotation,
  rolloutPolicyAnnotations,
  rolloutStateAnnotation,
  targetConfigAnnotation,
  targetReasonAnnotation,
} from '@slipway/api/names';
import { describe, expect, it } from 'vitest';
import { encodeState } from './memory.ts';
import {
  AFTER_FAILURE,
  ALREADY_RUNS,
  highestMajor,
  readNodeFacts,
  parseTargetReason,
  readPoolFacts,
  targetReason,
} from './read-facts.ts';
import { parseOsMajor } from '../os-streams/os-major.ts';
import { at, NEW, NOW, OLD, sampleNode, samplePool, sampleState } from './testing/sample.ts';

type Conditions = NonNullable<NonNullable<Node['status']>['conditions']>;
const ready = { type: 'Ready', status: 'True', lastTransitionTime: at(-30) };

const node = (conditions: Conditions = [ready], more: Partial<Node> = {}): Node => ({
  metadata: { name: 'worker-1', creationTimestamp: at(-60) },
  status: { conditions },
  ...more,
});

describe('readNodeFacts', () => {
  it('reads everything that a rollout decision needs', () => {
    const facts = readNodeFacts({
      metadata: {
        name: 'worker-1',
        creationTimestamp: at(-60),
        deletionTimestamp: at(0),
        labels: { 'topology.kubernetes.io/zone': 'a' },
        annotations: {
          [nodeAnnotations.currentConfig]: OLD,
          [nodeAnnotations.desiredConfig]: NEW,
          [nodeAnnotations.state]: 'Degraded',
          [nodeAnnotations.reason]: 'it broke',
          [reportedConfigAnnotation]: OLD,
          [targetReasonAnnotation]: targetReason(NOW, `${AFTER_FAILURE}again`),
          [cordonedAnnotation]: at(-1),
          [nodeAnnotations.desiredDrain]: `drain-${NEW}`,
          [nodeAnnotations.lastAppliedDrain]: `drain-${OLD}`,
          [drainBlockedAnnotation]: 'pod a/b, budget c',
        },
      },
      spec: { unschedulable: true },
      status: { conditions: [ready], nodeInfo: { osImage: 'CoreOS 9.6.1' } },
    });
    expect(facts).toEqual({
      name: 'worker-1',
      createdAt: NOW - 60 * 60_000,
      zone: 'a',
      current: OLD,
      desired: NEW,
      state: 'Degraded',
      reason: 'it broke',
      reportedConfig: OLD,
      hasDrifted: false,
      isReady: true,
      notReady: '',
      readyChangedAt: NOW - 30 * 60_000,
      isCordoned: true,
      isCordonedByUs: true,
      awaitsDrain: true,
      drainBlocked: 'pod a/b, budget c',
      osImage: 'CoreOS 9.6.1',
      givenAt: NOW,
      wasFailing: true,
      hadItBefore: false,
      isBeingDeleted: true,
    });
  });

  it.each([
    ['Degraded', 'file /etc/motd differs [SLW_DAEMON_DRIFT]', true],
    ['Degraded', `${'x'.repeat(8000)} [SLW_DAEMON_DRIFT]`, true],
    ['Degraded', 'file /etc/motd differs from the config [SLW_DAEMON_VERIFY]', false],
    ['Degraded', 'a unit logged [SLW_DAEMON_DRIFT] and failed [SLW_DAEMON_UNIT]', false],
    ['Working', 'file /etc/motd differs [SLW_DAEMON_DRIFT]', false],
  ])('%s for %s: drift is %s', (state, reason, hasDrifted) => {
    const annotations = { [nodeAnnotations.state]: state, [nodeAnnotations.reason]: reason };
    expect(readNodeFacts({ metadata: { name: 'worker-1', annotations } }).hasDrifted).toBe(hasDrifted);
  });

  it.each([
    ['drain-x', undefined, true],
    ['drain-x', 'uncordon-y', true],
    ['drain-x', 'drain-x', false],
    ['uncordon-x', 'drain-x', false],
    [undefined, undefined, false],
  ])('requested %s, done %s: it waits for its drain: %s', (requested, done, awaitsDrain) => {
    const annotations = {
      ...(requested !== undefined && { [nodeAnnotations.desiredDrain]: requested }),
      ...(done !== undefined && { [nodeAnnotations.lastAppliedDrain]: done }),
    };
    expect(readNodeFacts({ metadata: { name: 'worker-1', annotations } }).awaitsDrain).toBe(awaitsDrain);
  });

  it('a reason shows no secret, whichever daemon reported it', () => {
    const annotations = { [nodeAnnotations.state]: 'Degraded', [nodeAnnotations.reason]: 'cannot pull: TOKEN=abc12' };
    expect(readNodeFacts({ metadata: { name: 'worker-1', annotations } }).reason).toBe('cannot pull: TOKEN=(hidden)');
  });

  it('a new Node has reported nothing', () => {
    expect(readNodeFacts({ metadata: { name: 'worker-1' } })).toMatchObject({
      current: null,
      desired: null,
      state: null,
      zone: '',
      isReady: false,
      notReady: 'the kubelet has not reported yet',
      isCordoned: false,
      givenAt: null,
    });
  });

  it('an unknown config or state counts as none', () => {
    const annotations = {
      [nodeAnnotations.currentConfig]: '',
      [nodeAnnotations.desiredConfig]: 'not-yet-set',
      [nodeAnnotations.state]: 'Fine',
    };
    const facts = readNodeFacts({ metadata: { name: 'worker-1', annotations } });
    expect(facts).toMatchObject({ current: null, desired: null, state: null });
  });

  it('a cordon by a user is not a cordon by Slipway', () => {
    const facts = readNodeFacts(node([ready], { spec: { unschedulable: true } }));
    expect(facts).toMatchObject({ isCordoned: true, isCordonedByUs: false });
    const annotations = { [cordonedAnnotation]: at(0) };
    expect(readNodeFacts({ metadata: { name: 'worker-1', annotations } })).toMatchObject({ isCordonedByUs: false });
  });

  it.each<[string, Conditions, string]>([
    ['its kubelet stopped reporting', [{ ...ready, status: 'Unknown', message: 'no word' }], 'no word'],
    ['its kubelet reports not ready', [{ ...ready, status: 'False' }], 'Ready is False'],
    ['its disk is full', [ready, { type: 'DiskPressure', status: 'True', message: 'full' }], 'DiskPressure: full'],
    ['it has no network', [ready, { type: 'NetworkUnavailable', status: 'True' }], 'NetworkUnavailable: True'],
  ])('is not ready when %s', (_, conditions, notReady) => {
    expect(readNodeFacts(node(conditions))).toMatchObject({ isReady: false, notReady });
  });

  it('other conditions, and false ones, do not matter', () => {
    const others = ['DiskPressure', 'NetworkUnavailable', 'PIDPressure'].map((type) => ({ type, status: 'False' }));
    expect(readNodeFacts(node([ready, ...others, { type: 'MemoryPressure', status: 'True' }])).isReady).toBe(true);
  });
});

const pool = (annotations: Record<string, string>, spec: MachineConfigPool['spec'] = {}): MachineConfigPool => ({
  metadata: { name: 'worker', annotations },
  spec: { configuration: { name: NEW }, ...spec },
  status: { configuration: { name: OLD } },
});

describe('readPoolFacts', () => {
  it('reads everything that a rollout decision needs', () => {
    const annotations = { [targetConfigAnnotation]: OLD, [rolloutStateAnnotation]: encodeState(sampleState()) };
    expect(readPoolFacts(pool(annotations, { paused: true, maxUnavailable: '10%' }))).toEqual({
      pool: samplePool({ held: OLD, isPaused: true, maxUnavailable: '10%', state: sampleState() }),
      history: [],
      problems: [],
    });
  });

  it('a new pool has no config and no history', () => {
    expect(readPoolFacts({ metadata: { name: 'worker' }, spec: {} }).pool).toEqual(
      samplePool({ newest: null, proven: null }),
    );
  });

  it.each([
    ['master', true],
    ['arbiter', true],
    ['worker', false],
    ['infra', false],
  ])('%s is a control-plane pool: %s', (name, isControlPlane) => {
    expect(readPoolFacts({ metadata: { name }, spec: {} }).pool.isControlPlane).toBe(isControlPlane);
  });

  it('damaged annotations are ignored and reported', () => {
    const {
      pool: facts,
      history,
      problems,
    } = readPoolFacts(
      pool(
        {
          [rolloutStateAnnotation]: '{',
          [rolloutHistoryAnnotation]: 'x',
          [rolloutPolicyAnnotations.soak]: 'long',
        },
        { maxUnavailable: 'some' },
      ),
    );
    expect(facts.state).toBeNull();
    expect(history).toEqual([]);
    expect(problems.map(({ code }) => code)).toEqual([
      'SLW_ROLLOUT_POLICY',
      'SLW_ROLLOUT_MAX_UNAVAILABLE',
      'SLW_ROLLOUT_MEMORY',
      'SLW_ROLLOUT_MEMORY',
    ]);
    expect(problems[2]?.message).toContain(`MachineConfigPool worker: annotation ${rolloutStateAnnotation}: expected`);
  });
});

describe('parseOsMajor', () => {
  it.each<[string, number | null]>([
    ['Red Hat Enterprise Linux CoreOS 9.6.20260101-0 (Plow)', 9],
    ['Red Hat Enterprise Linux CoreOS 10.0.20260101-0', 10],
    ['Red Hat Enterprise Linux CoreOS 418.94.202501010000-0', 9],
    ['Red Hat Enterprise Linux CoreOS 421.100.202601010000-0', 10],
    ['CentOS Stream CoreOS 9.0.20250510-0', 9],
    ['Fedora CoreOS 42.20250901.3.0', 42],
    ['Debian GNU/Linux 12 (bookworm)', null],
    ['', null],
  ])('%s: %s', (osImage, major) => {
    expect(parseOsMajor(osImage)).toBe(major);
  });

  it('the highest version of the machines that run the config counts', () => {
    const nodes = [
      sampleNode('a', { osImage: 'CoreOS 9.6.1' }),
      sampleNode('b', { osImage: 'CoreOS 10.1.1' }),
      sampleNode('c', { osImage: 'CoreOS 11.0.1', current: NEW }),
      sampleNode('d', { osImage: '' }),
    ];
    expect(highestMajor(nodes, (config) => config === OLD)).toBe(10);
    expect(highestMajor(nodes, (config) => config === 'rendered-worker-x')).toBeNull();
  });
});

describe('the reason for an assignment', () => {
  it('is read as it was written', () => {
    expect(targetReason(NOW, 'oldest remaining node')).toBe('2026-03-01T12:00:00.000Z oldest remaining node');
    expect(parseTargetReason(targetReason(NOW, 'oldest remaining node'))).toEqual({
      givenAt: NOW,
      why: 'oldest remaining node',
      wasFailing: false,
      hadItBefore: false,
    });
    expect(parseTargetReason(targetReason(NOW, `${AFTER_FAILURE}another chance`))).toMatchObject({ wasFailing: true });
    for (const prefix of ['', AFTER_FAILURE]) {
      const reason = targetReason(NOW, `${prefix}${ALREADY_RUNS}rendered-worker-b`);
      expect(parseTargetReason(reason)).toMatchObject({ hadItBefore: true, wasFailing: prefix !== '' });
    }
  });

  it.each([undefined, '', 'because', '2026-03-01', 'not-a-time-but-long-enough because'])(
    'that nobody of ours wrote (%s) has no time',
    (text) => {
      expect(parseTargetReason(text)).toEqual({
        givenAt: null,
        why: text ?? '',
        wasFailing: false,
        hadItBefore: false,
      });
    },
  );

  it('is bounded', () => {
    expect(targetReason(NOW, 'x'.repeat(10_000)).length).toBeLessThan(600);
    expect(parseTargetReason('x'.repeat(10_000)).why.length).toBeLessThan(600);
  });
});
