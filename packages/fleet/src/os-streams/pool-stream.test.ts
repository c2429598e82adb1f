import { osStreamImagesAnnotation as images, osStreamAnnotation as stream } from '@slipway/api/names';
import { describe, expect, it } from 'vitest';
import type { PoolStream, PoolStreamFacts, Streams } from './available.ts';
import { streamOfPool, trackedAnnotations, trackedBy, readTrackedStream } from './pool-stream.ts';
import { sampleImages, running, samplePool, sampleStreams, streamNamed, tracked } from './testing/sample.ts';

/** In few words: `follows rhel-9, tracked`. */
function said(decision: PoolStream): string {
  switch (decision.type) {
    case 'follows':
      return `follows ${decision.stream.name}, ${decision.because}`;
    case 'frozen':
      return `frozen at ${decision.at.name}, ${decision.because}`;
    case 'refused':
      return `refused ${decision.problem.code}, stays on ${decision.at?.name ?? 'nothing'}`;
    default:
      return 'waits';
  }
}

type Row = [promise: string, pool: Partial<PoolStreamFacts>, streams: Streams, decision: string];

const nine = sampleStreams(['rhel-9', 'rhel-10']);
const ten = sampleStreams(['rhel-9', 'rhel-10'], { build: 2, defaultStream: 'rhel-10' });
const onlyTen = sampleStreams(['rhel-10'], { build: 3 });
const custom = (more: Partial<PoolStreamFacts>): Partial<PoolStreamFacts> => ({ pool: 'infra', ...more });

/** In the order of the design's sections. `nine` is a release whose default is RHEL 9, `ten` one whose default is RHEL 10. */
const upgradeRules: Record<string, Row[]> = {
  'a pool that names its stream': [
    ['takes it when it is new', { asked: 'rhel-10' }, nine, 'follows rhel-10, asked'],
    ['keeps it over an upgrade', { asked: 'rhel-9', tracked: tracked('rhel-9') }, ten, 'follows rhel-9, asked'],
    ['may use the name of the design text', { asked: 'rhel9-coreos' }, ten, 'follows rhel-9, asked'],
    [
      'may use a name that means nothing to us',
      { asked: 'vendor-1' },
      sampleStreams(['vendor-1']),
      'follows vendor-1, asked',
    ],
  ],
  'a pool that names none': [
    ['takes the default when it is new', {}, nine, 'follows rhel-9, default'],
    ['stays on its stream when the default changes', { tracked: tracked('rhel-9') }, ten, 'follows rhel-9, tracked'],
    ['stays on a stream that got another name', { tracked: tracked('rhel9-coreos') }, ten, 'follows rhel-9, tracked'],
    ['stays on the newer one too', { tracked: tracked('rhel-10') }, nine, 'follows rhel-10, tracked'],
    [
      'stays on the stream that it once named',
      { tracked: tracked('vendor-1') },
      sampleStreams(['rhel-9', 'vendor-1']),
      'follows vendor-1, tracked',
    ],
  ],
  'a pool from before streams': [
    ['stays on what its machines run', { runs: running('rhel-9') }, ten, 'follows rhel-9, runs it'],
    ['by whichever name', { runs: running('rhel9-coreos') }, ten, 'follows rhel-9, runs it'],
    [
      'keeps its images if their stream is unknown',
      { runs: { stream: null, images: sampleImages('own') } },
      ten,
      'frozen at null, unknown',
    ],
    [
      'keeps them until its spec names a stream',
      { tracked: { name: null, images: sampleImages('own') } },
      ten,
      'frozen at null, unknown',
    ],
    [
      'follows the stream that its owner names then',
      { asked: 'rhel-9', tracked: { name: null, images: sampleImages('own') } },
      ten,
      'follows rhel-9, asked',
    ],
    [
      'keeps its images when the release drops its stream',
      { runs: running('rhel-9') },
      onlyTen,
      'frozen at rhel-9, removed',
    ],
    [
      'is not led by its machines once it is tracked',
      { tracked: tracked('rhel-9'), runs: running('rhel-10') },
      ten,
      'follows rhel-9, tracked',
    ],
  ],
  'a new pool after the transition': [
    ['takes the new default', { pool: 'arbiter' }, ten, 'follows rhel-10, default'],
    [
      'has worker’s stream if it takes worker’s MachineConfigs',
      custom({ worker: tracked('rhel-9') }),
      ten,
      'follows rhel-9, follows worker',
    ],
  ],
  'a custom pool': [
    [
      'follows worker forward',
      custom({ tracked: tracked('rhel-9'), worker: tracked('rhel-10') }),
      nine,
      'follows rhel-10, follows worker',
    ],
    [
      'never follows worker back',
      custom({ tracked: tracked('rhel-10'), worker: tracked('rhel-9') }),
      nine,
      'follows rhel-10, tracked',
    ],
    [
      'never back from what its machines run',
      custom({ runs: running('rhel-10'), worker: tracked('rhel-9') }),
      nine,
      'follows rhel-10, runs it',
    ],
    [
      'never to another family',
      custom({ tracked: tracked('centos-10'), worker: tracked('rhel-10') }),
      sampleStreams(['rhel-10', 'centos-10']),
      'follows centos-10, tracked',
    ],
    [
      'opts out by naming a stream',
      custom({ asked: 'rhel-10', tracked: tracked('rhel-9'), worker: tracked('rhel-9') }),
      nine,
      'follows rhel-10, asked',
    ],
    ['waits while worker’s stream is not known', custom({ worker: null }), nine, 'waits'],
    ['waits with the OS that it has', custom({ worker: null, tracked: tracked('rhel-9') }), nine, 'waits'],
    [
      'does not wait when it names a stream',
      custom({ asked: 'rhel-10', worker: null }),
      nine,
      'follows rhel-10, asked',
    ],
    ['is frozen with worker', custom({ worker: tracked('rhel-9') }), onlyTen, 'frozen at rhel-9, removed'],
    [
      'has worker’s images if their stream is unknown',
      custom({ worker: { name: null, images: sampleImages('own') } }),
      nine,
      'frozen at null, unknown',
    ],
    [
      'keeps its stream if worker’s is unknown',
      custom({ tracked: tracked('rhel-9'), worker: { name: null, images: null } }),
      nine,
      'follows rhel-9, tracked',
    ],
    [
      'keeps an unknown OS, whatever worker’s is',
      custom({ tracked: { name: null, images: sampleImages('own') }, worker: tracked('rhel-9') }),
      nine,
      'frozen at null, unknown',
    ],
    [
      'does not leave its stream for one that is gone',
      custom({ tracked: tracked('rhel-9'), worker: tracked('vendor-1') }),
      nine,
      'follows rhel-9, tracked',
    ],
    [
      'leaves a stream that is gone for worker’s',
      custom({ tracked: tracked('rhel-9'), worker: tracked('rhel-10') }),
      onlyTen,
      'follows rhel-10, follows worker',
    ],
  ],
  'a migration': [
    ['moves forward', { asked: 'rhel-10', tracked: tracked('rhel-9') }, nine, 'follows rhel-10, asked'],
    [
      'moves forward before the pool was tracked',
      { asked: 'rhel-10', runs: running('rhel-9') },
      nine,
      'follows rhel-10, asked',
    ],
    ['is not undone by removing the field', { tracked: tracked('rhel-10') }, nine, 'follows rhel-10, tracked'],
    [
      'never moves backward',
      { asked: 'rhel-9', tracked: tracked('rhel-10') },
      nine,
      'refused SLW_STREAM_BACKWARD, stays on rhel-10',
    ],
    [
      'never moves backward through an alias',
      { asked: 'rhel9-coreos', tracked: tracked('rhel10-coreos') },
      nine,
      'refused SLW_STREAM_BACKWARD, stays on rhel10-coreos',
    ],
    [
      'never moves backward from what machines run',
      { asked: 'rhel-9', runs: running('rhel-10') },
      nine,
      'refused SLW_STREAM_BACKWARD, stays on rhel-10',
    ],
    [
      'never moves to another family',
      { asked: 'centos-10', tracked: tracked('rhel-10') },
      sampleStreams(['rhel-10', 'centos-10']),
      'refused SLW_STREAM_FAMILY, stays on rhel-10',
    ],
    [
      'moves to a stream that exists',
      { asked: 'rhel-11', tracked: tracked('rhel-9') },
      nine,
      'refused SLW_STREAM_UNKNOWN, stays on rhel-9',
    ],
    [
      'that is impossible for a new pool leaves it without an OS',
      { asked: 'rhel-11' },
      nine,
      'refused SLW_STREAM_UNKNOWN, stays on nothing',
    ],
    [
      'to an unknown stream does not change a pool that predates streams',
      { asked: 'rhel-11', runs: running('rhel-9') },
      nine,
      'refused SLW_STREAM_UNKNOWN, stays on rhel-9',
    ],
  ],
  'a stream that is removed': [
    ['freezes pools that were on it', { tracked: tracked('rhel-9') }, onlyTen, 'frozen at rhel-9, removed'],
    [
      'freezes pools that name it',
      { asked: 'rhel-9', tracked: tracked('rhel-9') },
      onlyTen,
      'frozen at rhel-9, removed',
    ],
    [
      'freezes pools that name it by another name',
      { asked: 'rhel9-coreos', tracked: tracked('rhel-9') },
      onlyTen,
      'frozen at rhel-9, removed',
    ],
    [
      'freezes pools that name it and were not tracked',
      { asked: 'rhel-9', runs: running('rhel-9') },
      onlyTen,
      'frozen at rhel-9, removed',
    ],
    ['is refused to new pools', { asked: 'rhel-9' }, onlyTen, 'refused SLW_STREAM_UNKNOWN, stays on nothing'],
    [
      'is refused to pools that never were on it',
      { asked: 'rhel-9', tracked: tracked('rhel-10') },
      onlyTen,
      'refused SLW_STREAM_UNKNOWN, stays on rhel-10',
    ],
    [
      'lets pools move to its successor',
      { asked: 'rhel-10', tracked: tracked('rhel-9') },
      onlyTen,
      'follows rhel-10, asked',
    ],
    ['is followed again when it comes back', { tracked: tracked('rhel-9') }, ten, 'follows rhel-9, tracked'],
  ],
};

describe.each(Object.entries(upgradeRules))('upgrade rules: %s', (_, rows) => {
  it.each(rows)('%s', (_, pool, streams, decision) => {
    expect(said(streamOfPool(samplePool(pool), streams))).toBe(decision);
  });
});

describe('the images of a pool', () => {
  const after = (pool: Partial<PoolStreamFacts>, streams: Streams) =>
    trackedBy(streamOfPool(samplePool(pool), streams))?.images;

  it('are those of its stream as the release has them', () => {
    expect(after({ tracked: tracked('rhel-9', 1) }, ten)).toEqual(sampleImages('rhel-9', 2));
  });

  it('stay those that were last there when the stream is gone', () => {
    expect(after({ tracked: tracked('rhel-9', 1) }, onlyTen)).toEqual(sampleImages('rhel-9', 1));
  });

  it('stay while the spec requests the impossible', () => {
    expect(after({ tracked: tracked('rhel-10', 1), asked: 'rhel-9' }, ten)).toEqual(sampleImages('rhel-10', 1));
  });

  it('are those that the machines have when the annotation lost them', () => {
    const pool = { tracked: { name: 'rhel-9', images: null }, runs: running('rhel-9', 7) };
    expect(after(pool, onlyTen)).toEqual(sampleImages('rhel-9', 7));
  });

  it('of a custom pool on a removed stream stay, and do not become worker’s', () => {
    const pool = custom({ tracked: tracked('rhel-9', 1), worker: tracked('rhel-9', 2) });
    expect(after(pool, onlyTen)).toEqual(sampleImages('rhel-9', 1));
    const without = custom({ tracked: { name: 'rhel-9', images: null }, worker: tracked('rhel-9', 2) });
    expect(after(without, onlyTen)).toEqual(sampleImages('rhel-9', 2));
  });

  it('of a stream with two names are those under the requested name', () => {
    const both = { ...nine, available: [streamNamed('rhel-9', 1), streamNamed('rhel9-coreos', 2)] };
    expect(after({ asked: 'rhel9-coreos' }, both)).toEqual(sampleImages('rhel9-coreos', 2));
  });
});

describe('a refusal', () => {
  const message = (pool: Partial<PoolStreamFacts>, streams: Streams): string => {
    const decision = streamOfPool(samplePool(pool), streams);
    return decision.type === 'refused' ? decision.problem.message : '';
  };

  it('names the pool, the field, the stream that is not there and those that are', () => {
    expect(message({ pool: 'infra', asked: 'rhel-11' }, nine)).toBe(
      'MachineConfigPool infra, spec.osImageStream.name: expected one of rhel-10, rhel-9 (from OSImageStream cluster), found rhel-11. The OS does not change. Set one of the listed streams, or remove the field to stay on the current stream',
    );
  });

  it('of a downgrade states the current stream, the reason, and what to do', () => {
    expect(message({ asked: 'rhel-9', tracked: tracked('rhel-10') }, nine)).toBe(
      'MachineConfigPool worker, spec.osImageStream.name: it requests stream rhel-9, but the pool is on rhel-10, which is newer, and a machine cannot be downgraded to an older major version of the OS. The OS does not change. Set the name to rhel-10, or remove the field; for machines with rhel-9, create new ones in another pool',
    );
  });

  it('of a new pool whose default is not there names the default', () => {
    const streams = sampleStreams(['rhel-9'], { defaultStream: 'rhel-10' });
    const decision = streamOfPool(samplePool(), streams);
    expect(decision).toMatchObject({ type: 'refused', at: null, problem: { code: 'SLW_STREAM_NO_DEFAULT' } });
    expect(message({}, streams)).toContain('rhel-10, is not available: expected one of rhel-9.');
  });

  it('lists the first of many streams', () => {
    const many = sampleStreams(Array.from({ length: 100 }, (_, index) => `vendor-${index + 100}`));
    expect(message({ asked: 'rhel-9' }, many)).toMatch(/one of vendor-100, .*, vendor-109 and 90 more \(from/);
  });
});

const json = JSON.stringify(sampleImages('rhel-9'));
const problem = { code: 'SLW_STREAM_UNKNOWN', message: '' };

describe('the stream that a pool is on', () => {
  it.each<[string, PoolStream, Record<string, string | null>]>([
    [
      'that follows one',
      { type: 'follows', stream: streamNamed('rhel-9'), because: 'asked' },
      { [stream]: 'rhel-9', [images]: json },
    ],
    [
      'that is frozen',
      { type: 'frozen', at: tracked('rhel-9'), because: 'removed' },
      { [stream]: 'rhel-9', [images]: json },
    ],
    [
      'that is frozen at an unknown stream',
      { type: 'frozen', at: { name: null, images: sampleImages('rhel-9') }, because: 'unknown' },
      { [stream]: '', [images]: json },
    ],
    [
      'whose images are lost',
      { type: 'frozen', at: { name: 'rhel-9', images: null }, because: 'removed' },
      { [stream]: 'rhel-9', [images]: null },
    ],
    ['that is refused', { type: 'refused', at: tracked('rhel-9'), problem }, { [stream]: 'rhel-9', [images]: json }],
    ['that is refused and on nothing: unchanged', { type: 'refused', at: null, problem }, {}],
    ['that waits: unchanged', { type: 'waits' }, {}],
  ])('is in the annotations of a pool %s', (_, decision, annotations) => {
    expect(trackedAnnotations(decision)).toEqual(annotations);
  });

  it.each([
    ['both', { [stream]: 'rhel-9', [images]: json }, { name: 'rhel-9', images: sampleImages('rhel-9') }],
    ['a name alone', { [stream]: 'rhel-9' }, { name: 'rhel-9', images: null }],
    ['an unknown stream', { [stream]: '', [images]: json }, { name: null, images: sampleImages('rhel-9') }],
    [
      'an OS without extensions',
      { [stream]: '', [images]: '{"osImage":"a","osExtensionsImage":""}' },
      { name: null, images: { osImage: 'a', osExtensionsImage: '' } },
    ],
    [
      'more than our fields',
      { [stream]: 'rhel-9', [images]: '{"osImage":"a","osExtensionsImage":"b","c":1}' },
      { name: 'rhel-9', images: { osImage: 'a', osExtensionsImage: 'b' } },
    ],
    ['nothing', {}, null],
    ['no annotations', undefined, null],
    ['images alone', { [images]: json }, null],
    ['a name that no stream can have', { [stream]: 'RHEL 9\n', [images]: json }, null],
    ['a name without end', { [stream]: 'a'.repeat(254), [images]: json }, null],
  ])('is read from %s', (_, annotations, expected) => {
    expect(readTrackedStream(annotations)).toEqual(expected);
  });

  it.each([
    ['no JSON', '{'],
    ['null', 'null'],
    ['a list', '[]'],
    ['one image', '{"osImage":"a"}'],
    ['no OS image', '{"osImage":"","osExtensionsImage":"b"}'],
    ['numbers', '{"osImage":1,"osExtensionsImage":2}'],
    ['an image with a line break', '{"osImage":"a\\nb","osExtensionsImage":"c"}'],
    ['an image that is too long', JSON.stringify({ osImage: 'a'.repeat(448), osExtensionsImage: 'b' })],
    ['a text without end', `{"osImage":"a","osExtensionsImage":"b","more":"${'x'.repeat(5000)}"}`],
  ])('has no images if the annotation has %s', (_, text) => {
    expect(readTrackedStream({ [stream]: 'rhel-9', [images]: text })).toEqual({ name: 'rhel-9', images: null });
  });
});
