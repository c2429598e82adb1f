import type { OSImageStream } from '@slipway/api';
import { describe, expect, it } from 'vitest';
import { discoverStreams, type SourceReading } from './discover-streams.ts';
import {
  isMadeFrom,
  isReportedByUs,
  joinUpgradeable,
  nextStreamObject,
  type StreamObjectInput,
} from './next-stream-object.ts';
import { configMap, pair, release } from './testing/readings.ts';

const rhel9 = pair('rhel9-coreos', 'rhel-9');
const rhel10 = pair('rhel10-coreos', 'rhel-10');
const both = [...rhel9, ...rhel10];
const failing: SourceReading = { name: 'release image', ok: false, problem: 'the registry does not answer' };
const OWN = 'slipway.dev/default-stream';
const SOURCES = 'slipway.dev/stream-sources';

function next(current: StreamObjectInput['current'], readings: readonly SourceReading[] | null) {
  const discovery = readings === null ? null : discoverStreams(readings);
  return nextStreamObject({ current, discovery, sourcesDigest: 'digest', releaseImage: 'quay.io/release@sha256:1' });
}

/** The object after these readings, with the given default in its spec. */
function objectAfter(readings: readonly SourceReading[], override?: string): OSImageStream {
  const made = next(undefined, readings);
  if (made.type !== 'write') throw new Error('nothing was made');
  const { spec, status, annotations } = made.wanted;
  const kept = Object.entries(annotations).filter((entry): entry is [string, string] => entry[1] !== null);
  return {
    metadata: { name: 'cluster', annotations: Object.fromEntries(kept) },
    spec: { defaultStream: override ?? spec.defaultStream },
    status,
  };
}

const getDesired = (result: ReturnType<typeof next>) => (result.type === 'write' ? result.wanted : undefined);
const listCodes = ({ problems }: ReturnType<typeof next>) => problems.map(({ code }) => code);

describe('the OSImageStream', () => {
  it('is created with the streams, their lifecycle, the platform default, and its sources', () => {
    const deprecated = pair('rhel9-coreos', 'rhel-9', { 'io.openshift.os.stream-lifecycle': 'deprecated' });
    expect(next(undefined, [release([...deprecated, ...rhel10])])).toMatchObject({
      type: 'write',
      problems: [],
      wanted: {
        spec: { defaultStream: 'rhel-9' },
        status: { defaultStream: 'rhel-9', availableStreams: [{ name: 'rhel-10' }, { name: 'rhel-9' }] },
        annotations: {
          [OWN]: 'rhel-9',
          [SOURCES]: 'digest',
          'slipway.dev/stream-lifecycle': '{"rhel-9":{"state":"deprecated","successor":null,"message":null}}',
          'machineconfiguration.openshift.io/release-payload-image': 'quay.io/release@sha256:1',
        },
      },
    });
  });

  it('follows a new platform default, unless another client has set one', () => {
    const before = objectAfter([release(both, '4.22.0')]);
    expect(getDesired(next(before, [release(both, '5.0.0')]))).toMatchObject({
      spec: { defaultStream: 'rhel-10' },
      status: { defaultStream: 'rhel-10' },
      annotations: { [OWN]: 'rhel-10' },
    });
  });

  it('keeps the default that another client set, as long as it is available', () => {
    const before = objectAfter([release(both, '4.22.0')], 'rhel-10');
    expect(getDesired(next(before, [release(both, '4.23.0')]))).toMatchObject({
      spec: { defaultStream: 'rhel-10' },
      status: { defaultStream: 'rhel-10' },
      annotations: { [OWN]: 'rhel-9' },
    });
    const gone = next(before, [release(rhel9, '4.23.0')]);
    expect(getDesired(gone)).toMatchObject({ spec: { defaultStream: 'rhel-10' }, status: { defaultStream: 'rhel-9' } });
    expect(gone.problems).toEqual([
      {
        code: 'SLW_STREAM_DEFAULT_GONE',
        message: expect.stringContaining('expected one of rhel-9, found rhel-10'),
      },
    ]);
  });

  it('has the default under the name that the payload has for it', () => {
    const before = objectAfter([release(both, '4.22.0')], 'rhel10-coreos');
    expect(getDesired(next(before, [release(both)]))).toMatchObject({
      spec: { defaultStream: 'rhel10-coreos' },
      status: { defaultStream: 'rhel-10' },
    });
    const renamed = pair('rhel9-coreos', 'rhel9-coreos');
    expect(getDesired(next(undefined, [release(renamed)]))).toMatchObject({
      spec: { defaultStream: 'rhel9-coreos' },
      status: { defaultStream: 'rhel9-coreos' },
    });
  });

  it('is not created, and not changed, if the platform default is missing', () => {
    const before = objectAfter([release(both, '4.22.0')]);
    for (const current of [undefined, before]) {
      const result = next(current, [release(rhel9, '5.0.0')]);
      expect(result).toEqual({
        type: 'leave',
        problems: [
          { code: 'SLW_STREAM_NO_DEFAULT', message: expect.stringMatching(/rhel-10.*available streams: rhel-9/) },
        ],
      });
    }
  });
});

describe('a source that fails', () => {
  it('leaves the last good one whole', () => {
    const before = objectAfter([release(both)]);
    const result = next(before, [configMap('cm', { 'io.openshift.os.streamclass': 'rhel-9' }), failing]);
    expect(getDesired(result)).toEqual({ spec: before.spec, status: before.status, annotations: {} });
    expect(listCodes(result)).toEqual(['SLW_STREAM_SOURCE_FAILED']);
  });

  it('without an object, lets the others create a preliminary one', () => {
    const result = next(undefined, [configMap('cm', { 'io.openshift.os.streamclass': 'rhel-9' }), failing]);
    expect(getDesired(result)).toMatchObject({
      status: { availableStreams: [{ name: 'rhel-9' }] },
      annotations: { [SOURCES]: null },
    });
    expect(listCodes(result)).toEqual(['SLW_STREAM_SOURCE_FAILED']);
    const made = objectAfter([configMap('cm', { 'io.openshift.os.streamclass': 'rhel-9' }), failing]);
    expect(isMadeFrom(made, 'digest')).toBe(false);
    expect(getDesired(next(made, [release(both)]))).toMatchObject({
      status: { availableStreams: [{ name: 'rhel-10' }, { name: 'rhel-9' }] },
      annotations: { [SOURCES]: 'digest' },
    });
  });

  it('and nothing else creates none', () => {
    expect(next(undefined, [failing])).toMatchObject({ type: 'leave' });
  });
});

describe('while the sources are the same', () => {
  it('nothing changes', () => {
    const before = objectAfter([release(both)]);
    expect(isMadeFrom(before, 'digest')).toBe(true);
    expect(isMadeFrom(before, 'another')).toBe(false);
    expect(next(before, null)).toEqual({
      type: 'write',
      wanted: { spec: before.spec, status: before.status, annotations: {} },
      problems: [],
    });
  });

  it('only the default changes when a user sets another, and reverts when that is removed', () => {
    const before = objectAfter([release(both)]);
    const chosen = getDesired(next({ ...before, spec: { defaultStream: 'rhel-10' } }, null));
    expect(chosen).toMatchObject({ spec: { defaultStream: 'rhel-10' }, status: { defaultStream: 'rhel-10' } });
    const back = { ...before, status: { ...before.status, ...chosen?.status } } as OSImageStream;
    expect(getDesired(next(back, null))).toMatchObject({ status: { defaultStream: 'rhel-9' } });
  });

  it('one that was created without a status is not complete', () => {
    const { metadata, spec } = objectAfter([release(both)]);
    expect(isMadeFrom({ metadata, spec }, 'digest')).toBe(false);
  });
});

const fine = { status: 'True', reason: 'AsExpected', message: '' } as const;
const held = { status: 'False', reason: 'DeprecatedOSStreamInUse', message: 'pool worker is on rhel-9' } as const;

describe('whether the cluster may be upgraded', () => {
  it.each([
    ['nothing blocks it', fine, null, fine],
    ['streams block it', held, null, held],
    ['boot images block it', fine, 'too old', { status: 'False', reason: 'BootImageSkew', message: 'too old' }],
    [
      'both block it: both are named',
      held,
      'too old',
      {
        status: 'False',
        reason: 'DeprecatedOSStreamInUse::BootImageSkew',
        message: 'pool worker is on rhel-9\ntoo old',
      },
    ],
  ] as const)('%s', (_, streams, skew, joined) => {
    expect(joinUpgradeable(streams, skew)).toEqual(joined);
  });

  it('a long finding does not hide the other', () => {
    const { message } = joinUpgradeable({ ...held, message: 's'.repeat(9000) }, 'k'.repeat(9000));
    expect(message.length).toBeLessThanOrEqual(4000);
    expect(message).toMatch(/^s+…\nk+…$/);
  });

  it.each([
    [undefined, false],
    ['AsExpected', false],
    ['PoolUpdating', false],
    ['BootImageSkew', true],
    ['DeprecatedOSStreamInUse', true],
    ['DeprecatedOSStreamInUse::BootImageSkew', true],
  ])('the reason %s is ours: %s', (reason, isOurs) => {
    expect(isReportedByUs(reason)).toBe(isOurs);
  });
});
