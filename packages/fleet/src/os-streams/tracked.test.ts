import { osStreamAnnotation as stream, osStreamImagesAnnotation as images } from '@slipway/api/names';
import { describe, expect, it } from 'vitest';
import type { PoolStream } from './facts.ts';
import { imagesOf, streamNamed, tracked } from './sample.ts';
import { trackedAnnotations, trackedOf } from './tracked.ts';

const json = JSON.stringify(imagesOf('rhel-9'));
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
      'that is frozen at a stream nobody can tell',
      { type: 'frozen', at: { name: null, images: imagesOf('rhel-9') }, because: 'unknown' },
      { [stream]: '', [images]: json },
    ],
    [
      'whose images are lost',
      { type: 'frozen', at: { name: 'rhel-9', images: null }, because: 'removed' },
      { [stream]: 'rhel-9', [images]: null },
    ],
    ['that is refused', { type: 'refused', at: tracked('rhel-9'), problem }, { [stream]: 'rhel-9', [images]: json }],
    ['that is refused and on nothing: as they are', { type: 'refused', at: null, problem }, {}],
    ['that waits: as they are', { type: 'waits' }, {}],
  ])('stands in the annotations of a pool %s', (_, decision, annotations) => {
    expect(trackedAnnotations(decision)).toEqual(annotations);
  });

  it.each([
    ['both', { [stream]: 'rhel-9', [images]: json }, { name: 'rhel-9', images: imagesOf('rhel-9') }],
    ['a name alone', { [stream]: 'rhel-9' }, { name: 'rhel-9', images: null }],
    ['a stream that nobody can tell', { [stream]: '', [images]: json }, { name: null, images: imagesOf('rhel-9') }],
    [
      'an OS without extensions',
      { [stream]: '', [images]: '{"osImage":"a","osExtensionsImage":""}' },
      { name: null, images: { osImage: 'a', osExtensionsImage: '' } },
    ],
    [
      'more than ours',
      { [stream]: 'rhel-9', [images]: '{"osImage":"a","osExtensionsImage":"b","c":1}' },
      { name: 'rhel-9', images: { osImage: 'a', osExtensionsImage: 'b' } },
    ],
    ['nothing', {}, null],
    ['no annotations', undefined, null],
    ['images alone', { [images]: json }, null],
    ['a name that no stream can have', { [stream]: 'RHEL 9\n', [images]: json }, null],
    ['a name without end', { [stream]: 'a'.repeat(254), [images]: json }, null],
  ])('is read from %s', (_, annotations, expected) => {
    expect(trackedOf(annotations)).toEqual(expected);
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
  ])('has no images where the annotation has %s', (_, text) => {
    expect(trackedOf({ [stream]: 'rhel-9', [images]: text })).toEqual({ name: 'rhel-9', images: null });
  });
});
