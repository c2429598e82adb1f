import type { MachineConfigPool, Node } from '@slipway/api';
import {
  cordonedAnnotation,
  drainBlockedAnnotation,
  nodeAnnotations,
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
  it('reads all that a rollout is decided on', () => {
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
          [targetReasonAnnotation]: targetReason(NOW, `${AFTER_FAILURE}again`),
          [cordonedAnnotation]: at(-1),
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
      isReady: true,
      notReady: '',
      readyChangedAt: NOW - 30 * 60_000,
      isCordoned: true,
      isCordonedByUs: true,
      drainBlocked: 'pod a/b, budget c',
      osImage: 'CoreOS 9.6.1',
      givenAt: NOW,
      wasFailing: true,
      isBeingDeleted: true,
    });
  });

  it('a Node that nobody has spoken of says nothing', () => {
    expect(readNodeFacts({ metadata: { name: 'worker-1' } })).toMatchObject({
      current: null,
      desired: null,
      state: null,
      zone: '',
      isReady: false,
      notReady: 'its kubelet has not reported yet',
      isCordoned: false,
      givenAt: null,
    });
  });

  it('what is not a config or a state of ours counts as nothing', () => {
    const annotations = {
      [nodeAnnotations.currentConfig]: '',
      [nodeAnnotations.desiredConfig]: 'not-yet-set',
      [nodeAnnotations.state]: 'Fine',
    };
    const facts = readNodeFacts({ metadata: { name: 'worker-1', annotations } });
    expect(facts).toMatchObject({ current: null, desired: null, state: null });
  });

  it('a node that a person cordoned is not ours', () => {
    const facts = readNodeFacts(node([ready], { spec: { unschedulable: true } }));
    expect(facts).toMatchObject({ isCordoned: true, isCordonedByUs: false });
    const annotations = { [cordonedAnnotation]: at(0) };
    expect(readNodeFacts({ metadata: { name: 'worker-1', annotations } })).toMatchObject({ isCordonedByUs: false });
  });

  it.each<[string, Conditions, string]>([
    ['its kubelet is silent', [{ ...ready, status: 'Unknown', message: 'no word' }], 'no word'],
    ['its kubelet says so', [{ ...ready, status: 'False' }], 'Ready is False'],
    ['its disk is full', [ready, { type: 'DiskPressure', status: 'True', message: 'full' }], 'DiskPressure: full'],
    ['it has no network', [ready, { type: 'NetworkUnavailable', status: 'True' }], 'NetworkUnavailable: True'],
  ])('is not ready when %s', (_, conditions, notReady) => {
    expect(readNodeFacts(node(conditions))).toMatchObject({ isReady: false, notReady });
  });

  it('other conditions, and those that are false, do not matter', () => {
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
  it('reads all that a rollout is decided on', () => {
    const annotations = { [targetConfigAnnotation]: OLD, [rolloutStateAnnotation]: encodeState(sampleState()) };
    expect(readPoolFacts(pool(annotations, { paused: true, maxUnavailable: '10%' }))).toEqual({
      pool: samplePool({ held: OLD, isPaused: true, maxUnavailable: '10%', state: sampleState() }),
      history: [],
      problems: [],
    });
  });

  it('a pool that was just made has nothing yet', () => {
    expect(readPoolFacts({ metadata: { name: 'worker' }, spec: {} }).pool).toEqual(
      samplePool({ newest: null, proven: null }),
    );
  });

  it.each([
    ['master', true],
    ['arbiter', true],
    ['worker', false],
    ['infra', false],
  ])('%s is of the control plane: %s', (name, isControlPlane) => {
    expect(readPoolFacts({ metadata: { name }, spec: {} }).pool.isControlPlane).toBe(isControlPlane);
  });

  it('what is damaged is left out and told', () => {
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

  it('of several machines the highest counts, of those that run the config', () => {
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

describe('why a Node was given its config', () => {
  it('is read as it was written', () => {
    expect(targetReason(NOW, 'it is its turn')).toBe('2026-03-01T12:00:00.000Z it is its turn');
    expect(parseTargetReason(targetReason(NOW, 'it is its turn'))).toEqual({
      givenAt: NOW,
      why: 'it is its turn',
      wasFailing: false,
    });
    expect(parseTargetReason(targetReason(NOW, `${AFTER_FAILURE}another chance`))).toMatchObject({ wasFailing: true });
  });

  it.each([undefined, '', 'because', '2026-03-01', 'not-a-time-but-long-enough because'])(
    'that nobody of ours wrote (%s) has no time',
    (text) => {
      expect(parseTargetReason(text)).toEqual({ givenAt: null, why: text ?? '', wasFailing: false });
    },
  );

  it('is bounded', () => {
    expect(targetReason(NOW, 'x'.repeat(10_000)).length).toBeLessThan(600);
    expect(parseTargetReason('x'.repeat(10_000)).why.length).toBeLessThan(600);
  });
});
