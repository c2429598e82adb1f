import type { MachineConfigPool } from '@slipway/api';
import { machineConfigPool } from '@slipway/testing/builders';
import { describe, expect, it } from 'vitest';
import {
  computeOperatorStatus,
  joinUpgradeable,
  type OperatorFacts,
  type UpgradeableFacts,
} from './operator-status.ts';

type Conditions = Readonly<Record<string, string>>;

/** On its newest config; each condition that is given is True, with its message. */
function pool(name: string, conditions: Conditions = { Updated: '' }, more: Partial<MachineConfigPool> = {}) {
  const { metadata, spec } = machineConfigPool(name, { configuration: { name: `rendered-${name}-1` } });
  const status = {
    observedGeneration: 1,
    configuration: { name: `rendered-${name}-1` },
    conditions: conditionsOf(conditions),
  };
  return { metadata: { ...metadata, generation: 1 }, spec, status, ...more } as MachineConfigPool;
}

const conditionsOf = (conditions: Conditions, reason = 'Because') =>
  Object.entries(conditions).map(([type, message]) => ({
    type,
    status: 'True' as const,
    reason,
    message,
    lastTransitionTime: '2026-01-01T00:00:00Z',
  }));

const dataImage = (name: string, count: number): OperatorFacts['dataImages'][number] => ({
  metadata: { name, namespace: 'metal' },
  status: { error: { count, message: 'the BMC refuses the ISO' } },
});

const compute = (more: Partial<OperatorFacts> = {}) =>
  computeOperatorStatus({
    platformVersion: '4.23.0',
    controllerVersion: '1.2.3',
    areStreamsCurrent: true,
    pools: [pool('master'), pool('worker')],
    streams: undefined,
    machineConfiguration: undefined,
    dataImages: [],
    reported: '4.22.0',
    ...more,
  });

const condition = (type: string, more: Partial<OperatorFacts>) =>
  compute(more).conditions.find((each) => each.type === type);

const machineConfiguration = (conditions: Conditions): OperatorFacts['machineConfiguration'] => ({
  metadata: { name: 'cluster' },
  spec: {},
  status: { conditions: conditionsOf(conditions) },
});

it('while all is well: available, and at the version of the platform', () => {
  expect(compute()).toEqual({
    conditions: [
      { type: 'Available', status: 'True', reason: 'AsExpected', message: 'Version: 4.23.0' },
      { type: 'Progressing', status: 'False', reason: 'AsExpected', message: 'Version: 4.23.0' },
      { type: 'Degraded', status: 'False', reason: 'AsExpected', message: '' },
    ],
    versions: [
      { name: 'operator', version: '4.23.0' },
      { name: 'slipway', version: '1.2.3' },
    ],
  });
});

it('without a platform, the version is that of Slipway', () => {
  expect(compute({ platformVersion: null }).versions[0]).toEqual({ name: 'operator', version: '1.2.3' });
});

describe('Degraded, for each of the jobs', () => {
  it.each<[string, Partial<OperatorFacts>, string, string]>([
    [
      'machine configuration',
      { pools: [pool('master'), pool('worker', { Degraded: 'Node worker-a fails' })] },
      'PoolDegraded',
      'MachineConfigPool worker: Node worker-a fails',
    ],
    [
      'OS image streams',
      { streams: { type: 'OSImageStreamsDegraded', status: 'True', message: 'ConfigMap: gone' } },
      'OSImageStreamDegraded',
      'ConfigMap: gone',
    ],
    [
      'boot images',
      { machineConfiguration: machineConfiguration({ BootImageUpdateDegraded: 'MachineSet a: forbidden' }) },
      'BootImageUpdateDegraded',
      'MachineConfiguration cluster: MachineSet a: forbidden',
    ],
    [
      'pinned images',
      { pools: [pool('worker', { Updated: '', PinnedImageSetsDegraded: 'Node worker-a: no space' })] },
      'PinnedImageSetsDegraded',
      'MachineConfigPool worker: Node worker-a: no space',
    ],
    [
      'data images',
      { dataImages: [dataImage('host-a', 3), dataImage('host-b', 2)] },
      'DataImageFailed',
      'DataImage metal/host-a: the BMC refuses the ISO (3 failures)',
    ],
  ])('%s', (_, facts, reason, message) => {
    expect(condition('Degraded', facts)).toEqual({ type: 'Degraded', status: 'True', reason, message });
  });

  it('not while a new pool waits for its OS image: the streams report what is wrong', () => {
    const waiting = pool('worker');
    const conditions = conditionsOf({ Degraded: 'no OS image' }, 'OSImageMissing');
    const found = condition('Degraded', { pools: [{ ...waiting, status: { ...waiting.status, conditions } }] });
    expect(found).toMatchObject({ status: 'False' });
  });

  it('not for a condition that is False', () => {
    const ended = (types: Conditions) =>
      conditionsOf(types).map((each) => Object.assign(each, { status: 'False' as const }));
    const worker = pool('worker');
    const over = ended({ Degraded: 'x', PinnedImageSetsDegraded: 'x', Updating: 'x' });
    const images = ended({ BootImageUpdateDegraded: 'x', BootImageUpdateProgressing: 'x' });
    const facts: Partial<OperatorFacts> = {
      pools: [pool('master'), { ...worker, status: { ...worker.status, conditions: over } }],
      streams: { type: 'OSImageStreamsDegraded', status: 'False', message: 'x' },
      machineConfiguration: { metadata: { name: 'cluster' }, spec: {}, status: { conditions: images } },
    };
    for (const type of ['Degraded', 'Progressing']) expect(condition(type, facts)).toMatchObject({ status: 'False' });
  });

  it('more than ten objects are counted', () => {
    const dataImages = Array.from({ length: 12 }, (_, at) => dataImage(`host-${10 + at}`, 3));
    const { message = '' } = condition('Degraded', { dataImages }) ?? {};
    expect(message.split('\n')).toHaveLength(11);
    expect(message).toMatch(/metal\/host-19: .*\nand 2 more$/);
  });

  it('a pool that waits for its OS image and whose machines fail, which also blocks an upgrade', () => {
    const failing = pool('worker');
    const conditions = [
      ...conditionsOf({ Degraded: 'no OS image; Node worker-a fails' }, 'OSImageMissing'),
      ...conditionsOf({ NodeDegraded: 'Node worker-a fails' }),
    ];
    const pools = [{ ...failing, status: { ...failing.status, conditions } }];
    expect(condition('Degraded', { pools })).toMatchObject({ status: 'True', reason: 'PoolDegraded' });
    const streams = { status: 'True', reason: 'AsExpected', message: '' } as const;
    expect(joinUpgradeable({ pools, streams, skew: null })).toMatchObject({ status: 'False', reason: 'DegradedPool' });
  });

  it('several together are all named, and a long one does not hide the others', () => {
    const found = condition('Degraded', {
      streams: { type: 'OSImageStreamsDegraded', status: 'True', message: 's'.repeat(9000) },
      dataImages: [dataImage('host-a', 3)],
    });
    expect(found?.reason).toBe('OSImageStreamDegraded::DataImageFailed');
    expect(found?.message.length).toBeLessThanOrEqual(4000);
    expect(found?.message).toContain('DataImage metal/host-a');
  });
});

describe('the version', () => {
  it.each<[string, Partial<OperatorFacts>, RegExp]>([
    [
      'the masters have another config',
      { pools: [pool('master', { Updating: '1 of 3' })] },
      /waiting for MachineConfigPool master/,
    ],
    [
      'the masters fail',
      { pools: [pool('master', { Updated: '', Degraded: 'x' })] },
      /waiting for MachineConfigPool master/,
    ],
    [
      'the status of the masters is older than their spec',
      { pools: [pool('master', { Updated: '' }, { metadata: { name: 'master', generation: 2 } })] },
      /waiting for MachineConfigPool master/,
    ],
    [
      'the masters run the config before',
      { pools: [pool('master', { Updated: '' }, { spec: { configuration: { name: 'rendered-master-2' } } })] },
      /waiting for MachineConfigPool master/,
    ],
    [
      'a pool that the upgrade requires is behind',
      {
        pools: [
          pool(
            'infra',
            {},
            {
              metadata: {
                name: 'infra',
                labels: { 'operator.machineconfiguration.openshift.io/required-for-upgrade': '' },
              },
            },
          ),
        ],
      },
      /waiting for MachineConfigPool infra/,
    ],
    ['the streams are those of the last release', { areStreamsCurrent: false }, /waiting for the OS image streams/],
  ])('stays while %s', (_, facts, why) => {
    expect(compute(facts).versions[0]).toEqual({ name: 'operator', version: '4.22.0' });
    expect(condition('Progressing', facts)).toMatchObject({
      status: 'True',
      reason: expect.stringMatching(/^VersionChanging/),
      message: expect.stringMatching(why),
    });
  });

  it('is not reported before the first one is reached', () => {
    const facts = { areStreamsCurrent: false, reported: null };
    expect(compute(facts).versions).toEqual([{ name: 'slipway', version: '1.2.3' }]);
    expect(condition('Available', facts)?.message).toBe('Version: none yet');
  });

  it('does not wait for workers, which are reported', () => {
    const facts = { pools: [pool('master'), pool('worker', { Updating: '1 of 3 machines' })] };
    expect(compute(facts).versions[0]).toEqual({ name: 'operator', version: '4.23.0' });
    expect(condition('Progressing', facts)).toMatchObject({
      status: 'True',
      reason: 'PoolUpdating',
      message: 'MachineConfigPool worker is updating',
    });
  });
});

it('boot images that are being updated are progress', () => {
  const facts = { machineConfiguration: machineConfiguration({ BootImageUpdateProgressing: '2 of 5' }) };
  expect(condition('Progressing', facts)).toMatchObject({ status: 'True', reason: 'BootImageUpdateProgressing' });
});

it('not available while nothing is rendered for master or worker; other pools do not count', () => {
  const facts = { pools: [pool('master'), machineConfigPool('worker'), machineConfigPool('infra')] };
  expect(condition('Available', facts)).toEqual({
    type: 'Available',
    status: 'False',
    reason: 'PoolNotRendered',
    message:
      'Nothing is rendered for MachineConfigPool worker: no machine can join. RenderDegraded of the pool explains why',
  });
});

describe('whether the cluster may be upgraded', () => {
  const fine = { status: 'True', reason: 'AsExpected', message: '' } as const;
  const held = { status: 'False', reason: 'DeprecatedOSStreamInUse', message: 'pool worker is on rhel-9' } as const;
  const degraded = {
    status: 'False',
    reason: 'DegradedPool',
    message:
      'Cannot upgrade: MachineConfigPool infra, worker is degraded. Fix what the condition Degraded of the pool names',
  } as const;
  const waiting = pool('gpu');
  const broken = [pool('worker', { Degraded: 'x' }), pool('infra', { Degraded: 'y' }), pool('master')];

  it.each<[string, Partial<UpgradeableFacts>, object]>([
    ['nothing blocks it', {}, fine],
    ['streams block it', { streams: held }, held],
    ['boot images block it', { skew: 'too old' }, { status: 'False', reason: 'BootImageSkew', message: 'too old' }],
    ['degraded pools block it, and are named without their changing messages', { pools: broken }, degraded],
    ['updating pools do not block it', { pools: [pool('worker', { Updating: '1 of 3' })] }, fine],
    [
      'a new pool that waits for its OS image does not block it',
      {
        pools: [
          {
            ...waiting,
            status: { ...waiting.status, conditions: conditionsOf({ Degraded: '' }, 'OSImageMissing') },
          },
        ],
      },
      fine,
    ],
    [
      'everything blocks it: all are named',
      { pools: broken, streams: held, skew: 'too old' },
      {
        status: 'False',
        reason: 'DegradedPool::DeprecatedOSStreamInUse::BootImageSkew',
        message: `${degraded.message}\npool worker is on rhel-9\ntoo old`,
      },
    ],
  ])('%s', (_, facts, condition) => {
    expect(joinUpgradeable({ pools: [], streams: fine, skew: null, ...facts })).toEqual(condition);
  });

  it('a long finding does not hide the other', () => {
    const streams = { ...held, message: 's'.repeat(9000) };
    const { message } = joinUpgradeable({ pools: [], streams, skew: 'k'.repeat(9000) });
    expect(message.length).toBeLessThanOrEqual(4000);
    expect(message).toMatch(/^s+…\nk+…$/);
  });
});
