import { type MachineConfigPool, ROLE_LABEL } from '@slipway/api';
import { describe, expect, it } from 'vitest';
import { selectDefaultStream, type Distribution, detectDistribution, followsWorker } from './default-stream.ts';
import { streamNamed } from './testing/sample.ts';

const named = (names: readonly string[]) => names.map((name) => streamNamed(name));

describe('the distribution of a platform', () => {
  it.each<[string | null, string[], Distribution | null]>([
    ['4.22.0', [], 'rhcos'],
    ['4.22.0-0.ci-2025-12-04-004014', ['centos-10'], 'rhcos'],
    ['4.20.0-okd-scos.3', ['rhel-9'], 'scos'],
    ['4.20.0-0.scos-2025-01-01-000000', [], 'scos'],
    ['4.15.0-0.okd-2024-03-10-010116', [], 'fcos'],
    ['4.15.0-fcos.1', [], 'fcos'],
    [null, ['rhel-9', 'rhel10-coreos'], 'rhcos'],
    [null, ['stream-coreos', 'vendor-1'], 'scos'],
    [null, ['fedora-coreos'], 'fcos'],
    [null, ['rhel-9', 'centos-10'], null],
    [null, ['vendor-1'], null],
  ])('of version %s with streams %j is %s', (version, streams, distribution) => {
    expect(detectDistribution(version, named(streams))).toBe(distribution);
  });
});

describe('the default stream', () => {
  it.each<[version: string | null, available: string[], override: string | null, name: string, because: string]>([
    ['4.22.0', ['rhel-9', 'rhel-10'], null, 'rhel-9', 'version'],
    ['5.0.0', ['rhel-9', 'rhel-10'], null, 'rhel-10', 'version'],
    ['5.1.0-0.nightly', ['rhel-9', 'rhel-10'], null, 'rhel-10', 'version'],
    ['v4.22.0', ['rhel-9', 'rhel-10'], null, 'rhel-9', 'version'],
    // As the payload spells it.
    ['4.22.0', ['rhel9-coreos', 'rhel10-coreos'], null, 'rhel9-coreos', 'version'],
    ['4.20.0-okd-scos.3', ['centos-10'], null, 'centos-10', 'version'],
    ['4.20.0-okd-scos.3', ['stream-coreos'], null, 'stream-coreos', 'version'],
    ['4.15.0-0.okd-2024', ['fedora-coreos'], null, 'fedora-coreos', 'version'],
    // A user's choice is kept as long as it is available.
    ['4.22.0', ['rhel-9', 'rhel-10'], 'rhel-10', 'rhel-10', 'override'],
    ['4.22.0', ['rhel-9', 'rhel-10'], 'rhel10-coreos', 'rhel-10', 'override'],
    ['4.22.0', ['rhel-9', 'vendor-1'], 'vendor-1', 'vendor-1', 'override'],
    ['4.22.0', ['rhel-9', 'rhel-10'], 'vendor-1', 'rhel-9', 'version'],
    // Without a version.
    [null, ['rhel-9'], null, 'rhel-9', 'the only one'],
    [null, ['vendor-1'], null, 'vendor-1', 'the only one'],
    ['main', ['rhel-10'], null, 'rhel-10', 'the only one'],
    [null, ['centos-10', 'centos-9'], null, 'centos-10', 'version'],
  ])('of platform %s with %j, override %s, is %s', (version, available, override, name, because) => {
    expect(selectDefaultStream({ version, available: named(available), override })).toEqual({
      ok: true,
      name,
      because,
    });
  });

  it.each([
    ['4.22.0', ['rhel-10'], 'expected the stream rhel-9, the default of platform 4.22.0; available streams: rhel-10.'],
    [
      '5.0.0',
      ['rhel-9', 'vendor-1'],
      'expected the stream rhel-10, the default of platform 5.0.0; available streams: rhel-9, vendor-1.',
    ],
    ['4.20.0-okd-scos.3', ['centos-9'], 'expected the stream centos-10'],
    ['4.22.0', [], 'available streams: none.'],
    [null, ['rhel-9', 'rhel-10'], 'no default OS image stream is known for a platform without a version'],
  ])('of platform %s is missing among %j: nothing is guessed', (version, available, text) => {
    const result = selectDefaultStream({ version, available: named(available), override: null });
    expect(result).toMatchObject({
      ok: false,
      problem: { code: 'SLW_STREAM_NO_DEFAULT', message: expect.stringContaining(text) },
    });
    expect(result).toMatchObject({ problem: { message: expect.stringContaining('set spec.defaultStream') } });
  });
});

type Selector = MachineConfigPool['spec']['machineConfigSelector'];
const roles = (operator: string, ...values: string[]): Selector => ({
  matchExpressions: [{ key: ROLE_LABEL, operator, values }],
});

describe('a pool has the OS of worker', () => {
  it.each<[boolean, string, string, Selector]>([
    [true, 'infra', 'worker’s MachineConfigs and its own', roles('In', 'worker', 'infra')],
    [true, 'infra', 'worker’s alone', { matchLabels: { [ROLE_LABEL]: 'worker' } }],
    [true, 'infra', 'those of every role', roles('Exists')],
    [true, 'infra', 'all', {}],
    [false, 'infra', 'its own alone', { matchLabels: { [ROLE_LABEL]: 'infra' } }],
    [false, 'infra', 'all but worker’s', roles('NotIn', 'worker')],
    [false, 'infra', 'some of worker’s, by another label', { matchLabels: { [ROLE_LABEL]: 'worker', team: 'a' } }],
    [false, 'infra', 'none, by a selector that cannot be used', roles('Like', 'worker')],
    [false, 'infra', 'none, without a selector', undefined],
    [false, 'worker', 'worker’s', { matchLabels: { [ROLE_LABEL]: 'worker' } }],
    [false, 'master', 'worker’s too', roles('In', 'worker', 'master')],
    [false, 'arbiter', 'worker’s too', roles('In', 'worker', 'arbiter')],
  ])('%s: %s, which takes %s', (expected, name, _, machineConfigSelector) => {
    const spec = machineConfigSelector === undefined ? {} : { machineConfigSelector };
    expect(followsWorker({ metadata: { name }, spec })).toBe(expected);
  });
});
