import { osStreamProblemAnnotation } from '@slipway/api';
import { describe, expect, it } from 'vitest';
import { encodeProblems } from '../problems.ts';
import { poolOnStream, rhel9, sampleStreams } from '../testing/sample-streams.ts';
import { streamsReport } from './streams-report.ts';

const on = { isOn: true, because: 'a test says so' };
const deprecated = { state: 'deprecated', successor: 'rhel-10', message: null } as const;

describe('the report of streams', () => {
  it('has every stream with its images, default flag, lifecycle, and the pools on it under any of its names', () => {
    const streams = sampleStreams({ lifecycle: { 'rhel-9': deprecated } });
    const pools = [
      poolOnStream('worker', { tracked: 'rhel-9' }),
      poolOnStream('infra', { tracked: 'rhel9-coreos' }),
      poolOnStream('gpu', { tracked: 'rhel-10', asked: 'rhel-10', reached: 'rhel-9' }),
    ];
    expect(streamsReport(streams, pools, on)).toMatchObject({
      defaultStream: 'rhel-9',
      streams: [
        { name: 'rhel-10', isDefault: false, lifecycle: null, pools: ['gpu'] },
        { ...rhel9, isDefault: true, lifecycle: deprecated, pools: ['infra', 'worker'] },
      ],
      pools: [
        { name: 'gpu', state: 'on stream', stream: 'rhel-10', asked: 'rhel-10', reached: 'rhel-9', keeps: null },
        { name: 'infra', state: 'on stream', stream: 'rhel9-coreos', asked: null, reached: null },
        { name: 'worker', state: 'on stream' },
      ],
    });
  });

  it.each([
    ['is no longer in the payload', { tracked: 'rhel-8', images: rhel9 }, { state: 'removed', stream: 'rhel-8' }],
    ['is not known', { tracked: null, images: rhel9 }, { state: 'unknown', stream: null }],
  ])('has the image of a pool whose stream %s', (_, pool, expected) => {
    const report = streamsReport(sampleStreams(), [poolOnStream('worker', pool)], on);
    expect(report.pools).toMatchObject([{ ...expected, keeps: rhel9.osImage }]);
    expect(report.streams.flatMap(({ pools }) => pools)).toEqual([]);
  });

  it('reports why a pool does not follow the requested stream', () => {
    const problem = { code: 'SLW_STREAM_UNKNOWN', message: 'there is no such stream' };
    const annotations = { [osStreamProblemAnnotation]: encodeProblems([problem]) };
    const pool = poolOnStream('worker', { tracked: 'rhel-9', asked: 'rhel-11', annotations });
    expect(streamsReport(sampleStreams(), [pool], on).pools).toMatchObject([{ asked: 'rhel-11', problems: [problem] }]);
  });

  it('without an OSImageStream has pools without a decision', () => {
    expect(streamsReport(null, [poolOnStream('worker')], null)).toMatchObject({
      gate: null,
      defaultStream: null,
      streams: [],
      pools: [{ name: 'worker', state: 'not yet decided', stream: null }],
    });
  });
});
