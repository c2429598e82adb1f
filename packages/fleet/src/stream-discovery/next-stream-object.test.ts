import type { OSImageStream } from '@slipway/api';
import { describe, expect, it } from 'vitest';
import { discoverStreams, type SourceReading } from './discover-streams.ts';
import { isMadeFrom, nextStreamObject, type StreamObjectInput } from './next-stream-object.ts';
import { digestSources, noSources } from './stream-sources.ts';
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

const staleConfigMap: SourceReading = {
  name: 'ConfigMap machine-config-osimageurl',
  ok: false,
  problem: 'the image does not exist',
};
const labelled = { 'io.openshift.os.streamclass': 'rhel-9' };
/** Of each stream, the name of its OS image. */
const imagesIn = (result: ReturnType<typeof next>) =>
  Object.fromEntries(
    (getDesired(result)?.status.availableStreams ?? []).map(({ name, osImage }) => [
      name,
      Buffer.from(osImage.replace(/.*:/, ''), 'hex').toString().replace(/\0+$/, ''),
    ]),
  );

describe('a source that fails', () => {
  it('and the only one that works has a lower precedence: nothing changes', () => {
    const before = objectAfter([release(both)]);
    const result = next(before, [configMap('cm', labelled), failing]);
    expect(getDesired(result)).toMatchObject({ spec: before.spec, status: before.status });
    expect(getDesired(result)?.annotations).not.toHaveProperty([SOURCES]);
    expect(result.problems).toEqual([
      {
        code: 'SLW_STREAM_SOURCE_FAILED',
        message: expect.stringMatching(/^release image: the registry does not answer\. .*keeps the streams/),
      },
    ]);
  });

  it.each<[string, SourceReading[], SourceReading[], Record<string, string>]>([
    [
      'a stale ConfigMap does not block the update of the release',
      [configMap('cm', labelled), release(both)],
      [staleConfigMap, release([...pair('rhel9-coreos-next', 'rhel-9'), ...rhel10])],
      { 'rhel-10': 'rhel10-coreos', 'rhel-9': 'rhel9-coreos-next' },
    ],
    [
      'the release does not block a change of the streams that only the ConfigMap has',
      [configMap('cm', labelled), release(rhel10, '5.0.0')],
      [configMap('cm-next', labelled), failing],
      { 'rhel-10': 'rhel10-coreos', 'rhel-9': 'cm-next' },
    ],
    [
      'its streams stay, and those that another source removes do not',
      [configMap('cm', labelled), release([...rhel10, ...pair('stream-coreos', 'centos-10')], '5.0.0')],
      [staleConfigMap, release(rhel10, '5.0.0')],
      { 'rhel-10': 'rhel10-coreos', 'rhel-9': 'cm' },
    ],
    [
      'one with a higher precedence takes over its stream',
      [configMap('cm', labelled), release(rhel10, '5.0.0')],
      [staleConfigMap, release(both, '5.0.0')],
      { 'rhel-10': 'rhel10-coreos', 'rhel-9': 'rhel9-coreos' },
    ],
    [
      'all fail: all streams stay',
      [release(both)],
      [staleConfigMap, failing],
      { 'rhel-10': 'rhel10-coreos', 'rhel-9': 'rhel9-coreos' },
    ],
  ])('%s', (_, good, bad, images) => {
    const result = next(objectAfter(good), bad);
    expect(imagesIn(result)).toEqual(images);
    expect(new Set(listCodes(result))).toEqual(new Set(['SLW_STREAM_SOURCE_FAILED']));
  });

  it('is tried again until it works, unless nothing changed', () => {
    const changed = next(objectAfter([release(both)]), [staleConfigMap, release(pair('rhel9-coreos-next', 'rhel-9'))]);
    expect(getDesired(changed)?.annotations).toMatchObject({ [SOURCES]: null });
  });

  it('keeps the lifecycle of its streams, and the default, although the version is unknown without it', () => {
    const deprecated = pair('rhel9-coreos', 'rhel-9', { 'io.openshift.os.stream-lifecycle': 'deprecated' });
    const before = objectAfter([release([...deprecated, ...rhel10], '5.0.0')]);
    const result = getDesired(next(before, [configMap('cm', { 'io.openshift.os.streamclass': 'centos-10' }), failing]));
    expect(result).toMatchObject({
      spec: { defaultStream: 'rhel-10' },
      status: {
        defaultStream: 'rhel-10',
        availableStreams: [{ name: 'centos-10' }, { name: 'rhel-10' }, { name: 'rhel-9' }],
      },
      annotations: { 'slipway.dev/stream-lifecycle': expect.stringContaining('rhel-9') },
    });
    expect(result?.annotations).not.toHaveProperty(['machineconfiguration.openshift.io/release-payload-image']);
  });

  it('of an object that does not record its sources: the failing source with the highest precedence counts', () => {
    const before = objectAfter([release(both)]);
    const { 'slipway.dev/stream-origins': _, ...annotations } = before.metadata.annotations ?? {};
    const old = { ...before, metadata: { ...before.metadata, annotations } };
    expect(imagesIn(next(old, [configMap('cm', labelled), failing]))).toEqual({
      'rhel-10': 'rhel10-coreos',
      'rhel-9': 'rhel9-coreos',
    });
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

describe('a stream that a user marks', () => {
  const LIFECYCLE = 'slipway.dev/stream-lifecycle';
  const marked = (marks: string, readings = [release(both)]): OSImageStream => {
    const { metadata, ...rest } = objectAfter(readings);
    return {
      ...rest,
      metadata: { ...metadata, annotations: { ...metadata.annotations, 'slipway.dev/stream-marks': marks } },
    };
  };
  const deprecated = pair('rhel9-coreos', 'rhel-9', { 'io.openshift.os.stream-lifecycle': 'deprecated' });

  it.each<[string, string, SourceReading, string[], object]>([
    [
      'blocked, under another of its names: it takes precedence over the release',
      '{"rhel9-coreos":{"state":"blocked","successor":"rhel-10"}}',
      release([...deprecated, ...rhel10], '5.0.0'),
      ['rhel-10', 'rhel-9'],
      { 'rhel-9': { state: 'blocked', successor: 'rhel-10', message: null } },
    ],
    [
      'removed: no pool can use it any more',
      '{"rhel-9":{"state":"removed","message":"No longer certified."}}',
      release(both, '5.0.0'),
      ['rhel-10'],
      { 'rhel-9': { state: 'removed', successor: null, message: 'No longer certified.' } },
    ],
  ])('as %s', (_, marks, reading, names, lifecycle) => {
    const result = next(marked(marks, [reading]), [reading]);
    expect(result.problems).toEqual([]);
    expect(Object.keys(imagesIn(result))).toEqual(names);
    expect(JSON.parse(getDesired(result)?.annotations[LIFECYCLE] ?? '')).toEqual(lifecycle);
  });

  it('as removed returns when the mark is removed', () => {
    const removed = objectAfter([release(rhel9)]);
    expect(Object.keys(imagesIn(next(removed, [release(both)])))).toEqual(['rhel-10', 'rhel-9']);
    expect(isMadeFrom(removed, digestSources(noSources, '1', '{"rhel-10":{"state":"removed"}}'))).toBe(false);
  });

  it('as removed cannot be the default', () => {
    const result = next(marked('{"rhel-9":{"state":"removed"}}'), [release(both)]);
    expect(result.type).toBe('leave');
    expect(listCodes(result)).toEqual(['SLW_STREAM_NO_DEFAULT']);
  });

  it('in an unknown way is reported until it is removed; valid marks count', () => {
    const before = marked('{"rhel-9":{"state":"gone"},"rhel-10":{"state":"deprecated"}}');
    for (const readings of [[release(both)], null]) {
      const result = next(before, readings);
      expect(result.problems).toEqual([
        {
          code: 'SLW_STREAM_MARK',
          message: expect.stringMatching(
            /^OSImageStream cluster, annotation slipway\.dev\/stream-marks: .*expected one of deprecated, blocked, removed.* Only the marks of rhel-10 count\./,
          ),
        },
      ]);
    }
    expect(getDesired(next(before, [release(both)]))?.annotations[LIFECYCLE]).toContain('rhel-10');
  });
});
